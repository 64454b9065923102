// The one rule about names that are nobody's content, for scanning, watching and hashing directories.
//
// It looks at names and never at whole paths, so that a directory has the same hash wherever it stands.
// It is not asked about a name that a workflow writes out: `.git/HEAD` as a dep is a dep like any other.

import picomatch from 'picomatch';

export interface IgnoreRule {
  /** Equal for equal rules: hashes of directories are only remembered under the rule they were made with. */
  readonly id: string;
  ignores(name: string): boolean;
}

/**
 * What a variable at the start of a name passes over, as in a shell: half-written downloads and editors' files
 * have a leading dot. Inside a directory dep dotfiles are content like the rest (`.env`, `.eslintrc`); to leave
 * them out of its hash would call stale work fresh.
 */
export function isHidden(name: string): boolean {
  return name.startsWith('.');
}

export class IgnoreError extends Error {
  readonly code = 'bad-ignore';
  readonly hint = 'write a glob for one name, such as *.bak or node_modules; it counts at every depth';

  constructor(glob: string) {
    super(`'${glob}' in 'ignore' is not a glob for the name of a file or directory`);
    this.name = 'IgnoreError';
  }
}

/** `globs` add to the built-in names, `!glob` takes away from them; the last one that matches decides. */
export function ignoreRule(globs: readonly string[] = []): IgnoreRule {
  const choices = globs.map(parseChoice);
  return {
    id: globs.length === 0 ? '' : JSON.stringify(globs),
    ignores: (name) =>
      isOwn(name) || (choices.findLast(({ matches }) => matches(name))?.ignore ?? isNobodysContent(name)),
  };
}

/** Cannot be taken away: work that saw Sluice's own files would never end. */
function isOwn(name: string): boolean {
  return name.startsWith('.sluice') || name === '.manifest.jsonl';
}

function isNobodysContent(name: string): boolean {
  return VERSION_CONTROL.has(name) || TEMPORARY.some((ending) => name.endsWith(ending));
}

const VERSION_CONTROL: ReadonlySet<string> = new Set(['.git', '.hg', '.svn']);
const TEMPORARY = ['.part', '.tmp', '~', '.crdownload'];

function parseChoice(written: string) {
  const ignore = !written.startsWith('!');
  const glob = written
    .slice(ignore ? 0 : 1)
    .replace(/^\*\*\//, '')
    .replace(/\/$/, '');
  if (glob === '' || glob.includes('/')) throw new IgnoreError(written);
  return { ignore, matches: picomatch(glob, { dot: true, nonegate: true }) as (name: string) => boolean };
}
