// Where a workflow's files are on this machine, if not where its registration says: `--root [WORKFLOW=]DIR`.
//
// The control plane knows one name for each file, under the root that was registered. A daemon that keeps the files
// elsewhere translates both ways at its edge, so that everything inside speaks of places on this disk.

export interface RootOption {
  /** Null stands for every workflow that has none of its own. */
  readonly workflow: string | null;
  /** Absolute, with links resolved. */
  readonly dir: string;
}

/** One workflow's two names for the same folder. */
export interface RootPair {
  readonly registered: string;
  readonly here: string;
}

export function rootPairOf(workflow: string, registered: string, options: readonly RootOption[]): RootPair {
  const own = options.find((each) => each.workflow === workflow);
  const any = options.find((each) => each.workflow === null);
  return { registered, here: (own ?? any)?.dir ?? registered };
}

/** The control plane's name of a path on this disk. What lies outside the root has one name everywhere. */
export function toRegistered(path: string, { registered, here }: RootPair): string {
  return moved(path, here, registered);
}

/** The place on this disk of a path, or of a pattern, that the control plane speaks of. */
export function toHere(path: string, { registered, here }: RootPair): string {
  return moved(path, registered, here);
}

function moved(path: string, from: string, to: string): string {
  if (from === to) return path;
  if (path === from) return to;
  const base = from === '/' ? '/' : `${from}/`;
  return path.startsWith(base) ? `${to === '/' ? '' : to}/${path.slice(base.length)}` : path;
}
