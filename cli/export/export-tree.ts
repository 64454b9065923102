// Writes what is known of a workflow's entities as a tree of JSON files, and takes back what it wrote before of
// entities that are gone. What stands in `index.json` is what it wrote; nothing else is ever removed.

import { closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { WriteError, writeFileAtomic } from '../../host/atomic-write.ts';
import type { HashBytes } from '../../schema/blake3.ts';
import { shown } from '../../schema/diagnostic.ts';
import type { EntityAnswer } from '../../schema/read-answers.ts';
import { CliError } from '../command.ts';
import { orExplain } from '../write-error.ts';
import { fileNameOf } from './file-names.ts';

export interface Exported {
  readonly entities: number;
  readonly failures: number;
  /** Files whose content is other than before. */
  readonly written: number;
  readonly unchanged: number;
  readonly removed: number;
}

export interface ExportOptions {
  readonly workflow: string;
  readonly to: string;
  readonly hash: HashBytes;
}

const INDEX = 'index.json';
const FOLDERS = ['manifests', 'failures'] as const;
const FORMAT = 'sluice manifests 1';

/** Holds one page at a time, and the names of files. */
export async function exportTree(
  pages: AsyncIterable<readonly EntityAnswer[]>,
  options: ExportOptions,
): Promise<Exported> {
  const { to, workflow } = options;
  const before = filesBefore(options);
  for (const folder of FOLDERS) writing(join(to, folder), (path) => mkdirSync(path, { recursive: true }));
  const index = new IndexFile(to, workflow);
  const files = new Set<string>();
  const counts = { entities: 0, failures: 0, written: 0, unchanged: 0 };
  try {
    for await (const page of pages) {
      for (const entity of page)
        if (!hasVanished(entity)) writeEntity(entity, { options, index, files, counts });
    }
    index.finish();
  } catch (error) {
    index.abandon();
    throw error;
  }
  const stale = [...before].filter((file) => !files.has(file));
  for (const file of stale) rmSync(join(to, file), { force: true });
  return { ...counts, removed: stale.length };
}

/** Its sources are gone; what was made of them may still lie there. */
function hasVanished({ manifest }: EntityAnswer): boolean {
  return Object.values(manifest.states).every(({ status }) => status === 'orphan');
}

interface Tree {
  readonly options: ExportOptions;
  readonly index: IndexFile;
  readonly files: Set<string>;
  readonly counts: { entities: number; failures: number; written: number; unchanged: number };
}

function writeEntity({ id, manifest, failures }: EntityAnswer, tree: Tree): void {
  const { options, index, counts } = tree;
  const name = fileNameOf(id, options.hash);
  const hasFailed = Object.keys(failures).length > 0;
  const files = [`manifests/${name}`, ...(hasFailed ? [`failures/${name}`] : [])];
  writeJson(files[0]!, manifest, tree);
  if (hasFailed) writeJson(files[1]!, { entity_id: id, failures }, tree);
  const stages = Object.fromEntries(
    Object.entries(manifest.states).map(([stage, { status }]) => [stage, status]),
  );
  index.add(id, { files, stages });
  counts.entities += 1;
  if (hasFailed) counts.failures += 1;
}

/** What is there already is left as it is, so that whoever watches the tree sees only what changed. */
function writeJson(file: string, value: object, { options, files, counts }: Tree): void {
  const path = join(options.to, file);
  const text = `${JSON.stringify(value, null, 2)}\n`;
  files.add(file);
  if (readOrNull(path) === text) {
    counts.unchanged += 1;
    return;
  }
  orExplain(() => writeFileAtomic(path, text));
  counts.written += 1;
}

/** An entity is a line, so that the whole need not be held to be written. */
class IndexFile {
  readonly #path: string;
  readonly #temp: string;
  readonly #fd: number;
  #isFirst = true;

  constructor(to: string, workflow: string) {
    this.#path = join(to, INDEX);
    this.#temp = join(to, `.sluice-${process.pid}.${INDEX}`);
    this.#fd = writing(this.#path, () => openSync(this.#temp, 'w'));
    this.#write(
      `{"format": ${JSON.stringify(FORMAT)}, "workflow": ${JSON.stringify(workflow)}, "entities": {`,
    );
  }

  add(entity: string, entry: IndexEntry): void {
    this.#write(`${this.#isFirst ? '' : ','}\n${JSON.stringify(entity)}: ${JSON.stringify(entry)}`);
    this.#isFirst = false;
  }

  finish(): void {
    this.#write('\n}}\n');
    closeSync(this.#fd);
    renameSync(this.#temp, this.#path);
  }

  abandon(): void {
    rmSync(this.#temp, { force: true });
  }

  #write(text: string): void {
    writing(this.#path, () => writeSync(this.#fd, text));
  }
}

interface IndexEntry {
  readonly files: readonly string[];
  readonly stages: Readonly<Record<string, string>>;
}

/** Refuses a tree that is somebody else's before anything is written. */
function filesBefore({ to, workflow }: ExportOptions): ReadonlySet<string> {
  const text = readOrNull(join(to, INDEX));
  if (text === null) return new Set();
  const index = parsed(text);
  if (index?.format !== FORMAT) throw notOurs(to, `${INDEX} there was not written by sluice`);
  if (index.workflow !== workflow)
    throw notOurs(to, `it holds the manifests of '${shown(String(index.workflow))}'`);
  const files = Object.values(index.entities ?? {}).flatMap((entry) => entry.files);
  return new Set(files.filter(isOurs));
}

/** Whatever an index says, nothing outside the two folders is removed. */
function isOurs(file: unknown): file is string {
  return typeof file === 'string' && /^(manifests|failures)\/[^/\0]+\.json$/.test(file);
}

interface Index {
  readonly format?: unknown;
  readonly workflow?: unknown;
  readonly entities?: Readonly<Record<string, IndexEntry>>;
}

function parsed(text: string): Index | null {
  try {
    return JSON.parse(text) as Index;
  } catch {
    return null;
  }
}

function notOurs(to: string, fact: string): CliError {
  return new CliError({
    code: 'not-an-export',
    message: `cannot export to ${shown(to)}: ${fact}`,
    hint: 'name another directory with --to, or remove that one; nothing was written',
  });
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

/** A place that cannot be written is the caller's to mend. */
function writing<Result>(path: string, write: (path: string) => Result): Result {
  let result: Result | undefined;
  orExplain(() => {
    try {
      result = write(path);
    } catch (cause) {
      throw new WriteError(path, cause);
    }
  });
  return result as Result;
}
