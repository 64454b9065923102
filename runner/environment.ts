// The environment of a command: short, documented, and the same whoever started the runner.
//
//   from the runner's own     PATH HOME USER LOGNAME SHELL LANG LC_* TZ
//   fixed                     TERM=dumb, for output goes to a file; TMPDIR, the work directory
//   from the workflow         the stage's `env`, then its secrets; they may replace any of the above
//   ours, not to be replaced  SLUICE_ROOT SLUICE_WORK_DIR SLUICE_WORKFLOW SLUICE_STAGE SLUICE_ENTITY SLUICE_ATTEMPT

export interface EnvironmentParts {
  readonly host: Readonly<Record<string, string | undefined>>;
  readonly stage: Readonly<Record<string, string>>;
  readonly secrets: Readonly<Record<string, string>>;
  /** The workflow's directory. */
  readonly root: string;
  readonly workDir: string;
  readonly workflow: string;
  readonly stageId: string;
  readonly entity: string;
  readonly attempt: string;
}

const KEPT = /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_[A-Z]+|TZ)$/;

export function commandEnvironment(parts: EnvironmentParts): Readonly<Record<string, string>> {
  return {
    ...keptOf(parts.host),
    TERM: 'dumb',
    TMPDIR: parts.workDir,
    ...parts.stage,
    ...parts.secrets,
    SLUICE_ROOT: parts.root,
    SLUICE_WORK_DIR: parts.workDir,
    SLUICE_WORKFLOW: parts.workflow,
    SLUICE_STAGE: parts.stageId,
    SLUICE_ENTITY: parts.entity,
    SLUICE_ATTEMPT: parts.attempt,
  };
}

/** A runner has one environment and many commands. */
const KEPT_OF = new WeakMap<EnvironmentParts['host'], Readonly<Record<string, string>>>();

function keptOf(host: EnvironmentParts['host']): Readonly<Record<string, string>> {
  const known = KEPT_OF.get(host);
  if (known !== undefined) return known;
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(host)) {
    if (value !== undefined && KEPT.test(name)) kept[name] = value;
  }
  KEPT_OF.set(host, kept);
  return kept;
}
