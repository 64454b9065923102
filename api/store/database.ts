// The one seam to the database: statements in order go in, rows come out, all of them or none.
//
// Two shapes stand behind it, `embedded.ts` and `remote.ts`. Whatever either would do differently from the
// other (bind 1 as 1.0, cut text at NUL, ignore a second statement) is refused here for both.

export type Value = null | number | string | Uint8Array;
export type Row = Readonly<Record<string, Value>>;
export type BatchMode = 'read' | 'write';

export interface Statement {
  readonly sql: string;
  /** Positional. Numbers without a fraction arrive as INTEGER, the others as REAL. */
  readonly args: readonly Value[];
}

export interface Rows {
  readonly rows: readonly Row[];
}

export interface Database {
  /** One round trip and one transaction. Decide fences by `rows.length`: neither side counts RETURNING rows alike. */
  batch(statements: readonly Statement[], mode: BatchMode): Promise<readonly Rows[]>;
  close(): Promise<void>;
  /** What was asked so far, so that tests can show that cost does not grow. */
  readonly stats: { readonly statements: number; readonly batches: number };
}

export function sql(text: string, ...args: readonly Value[]): Statement {
  return { sql: text, args };
}

export type DatabaseFault =
  | 'database-busy'
  | 'database-constraint'
  | 'database-corrupt'
  | 'database-full'
  | 'database-newer'
  | 'database-older'
  | 'database-refused'
  | 'database-unreachable'
  | 'database-unusable'
  | 'backup-failed';

interface DatabaseErrorParts {
  readonly code: DatabaseFault;
  readonly message: string;
  readonly hint: string;
  readonly cause?: unknown;
  readonly inDoubt?: boolean;
}

/** Something outside the program stopped us: the code for scripts, the message and the hint for a person. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
  readonly code: DatabaseFault;
  readonly hint: string;
  /** The batch may have been committed although no answer came. Otherwise nothing was changed. */
  readonly inDoubt: boolean;

  constructor(parts: DatabaseErrorParts) {
    super(parts.message, { cause: parts.cause });
    this.code = parts.code;
    this.hint = parts.hint;
    this.inDoubt = parts.inDoubt ?? false;
  }
}

/** Our own mistake: a statement that cannot be right, or a value one of the two shapes would spoil. */
export class DatabaseBug extends Error {
  override readonly name = 'DatabaseBug';
}

const FAULTS: readonly (readonly [prefix: string, fault: DatabaseFault])[] = [
  ['SQLITE_BUSY', 'database-busy'],
  ['SQLITE_LOCKED', 'database-busy'],
  ['TRANSACTION_', 'database-busy'],
  ['SQLITE_CONSTRAINT', 'database-constraint'],
  ['SQLITE_CORRUPT', 'database-corrupt'],
  ['SQLITE_NOTADB', 'database-corrupt'],
  ['SQLITE_FULL', 'database-full'],
  ['SQLITE_IOERR', 'database-unusable'],
  ['SQLITE_CANTOPEN', 'database-unusable'],
  ['SQLITE_READONLY', 'database-unusable'],
  ['SQLITE_PERM', 'database-unusable'],
];

/** Undefined for what only a wrong statement can cause. */
export function faultOf(sqliteCode: string): DatabaseFault | undefined {
  return FAULTS.find(([prefix]) => sqliteCode.startsWith(prefix))?.[1];
}

/** A statement that was checked, with its values as both libraries take them without loss. */
export interface Bound {
  readonly sql: string;
  readonly args: readonly (null | number | bigint | string | Uint8Array)[];
}

/** The limits of a statement on Workers, kept on every side so that the embedded one cannot hide a breach. */
export const MAX_PARAMETERS = 100;
export const MAX_SQL_BYTES = 100_000;
/** sqld takes a value of 3 MB and refuses one of 8. */
export const MAX_VALUE_LENGTH = 2_000_000;

/** How many different texts each side remembers; a program has a few hundred. */
export const REMEMBERED_TEXTS = 512;

/** `known` remembers what was found out about each text, for the life of one database. */
export function bind(
  statements: readonly Statement[],
  mode: BatchMode,
  known: Map<string, Inspected>,
): readonly Bound[] {
  return statements.map((statement) => {
    const inspected = remember(known, statement.sql, inspect);
    if (inspected.writes && mode === 'read') bug('a read batch writes', statement.sql);
    if (inspected.parameters !== statement.args.length) {
      bug(`expected ${inspected.parameters} args, got ${statement.args.length}`, statement.sql);
    }
    return { sql: statement.sql, args: statement.args.map((arg) => bindable(arg, statement.sql)) };
  });
}

export interface Inspected {
  readonly parameters: number;
  readonly writes: boolean;
}

const QUOTED_OR_COMMENT = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|--[^\n]*|\/\*[\s\S]*?\*\//g;
const TRANSACTION = /^(begin|commit|end|rollback|savepoint|release|vacuum|attach|detach)\b/i;
const TRIGGER = /^create\s+(temp\s+|temporary\s+)?trigger\b/i;
const READS =
  /^(select|values|explain|pragma\s+[\w.]+$|with\b(?![\s\S]*\b(insert|update|delete|replace\s+into)\b))/i;

function inspect(text: string): Inspected {
  if (new TextEncoder().encode(text).length > MAX_SQL_BYTES) bug(`over ${MAX_SQL_BYTES} bytes`, text);
  const bare = text.replace(QUOTED_OR_COMMENT, ' ').replace(/;\s*$/, '').trim();
  if (bare.includes(';') && !TRIGGER.test(bare)) bug('one statement each', text);
  if (TRANSACTION.test(bare)) bug('the seam itself begins and ends transactions', text);
  if (/[:@$]\w/.test(bare)) bug('args are positional', text);
  let parameters = 0;
  for (const [, number] of bare.matchAll(/\?(\d*)/g)) {
    parameters = number === '' ? parameters + 1 : Math.max(parameters, Number(number));
  }
  if (parameters > MAX_PARAMETERS) bug(`${parameters} parameters, at most ${MAX_PARAMETERS}`, text);
  return { parameters, writes: !READS.test(bare) };
}

/** Both libraries bind every number as REAL; libsql aborts the process on a boolean and cuts text at NUL. */
function bindable(value: Value, text: string): Bound['args'][number] {
  if (typeof value === 'number') {
    if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER) bug(`number ${value}`, text);
    return Number.isInteger(value) ? BigInt(value) : value;
  }
  if (value === null) return null;
  if (typeof value !== 'string' && !(value instanceof Uint8Array))
    bug(`an arg of type ${typeof value}`, text);
  if (value.length > MAX_VALUE_LENGTH) bug(`a value of ${value.length}, at most ${MAX_VALUE_LENGTH}`, text);
  if (typeof value === 'string' && (value.includes('\0') || !value.isWellFormed())) {
    bug('text with NUL or half a surrogate pair', text);
  }
  return value;
}

/** Of two columns with one name, one library keeps the first and the other the last. */
export function checkColumns(names: readonly string[], text: string): void {
  if (new Set(names).size !== names.length) bug(`two columns with one name (${names.join(', ')})`, text);
}

/** Brings the values of either library to the one shape, in place. */
export function plainRow(row: Record<string, Value | ArrayBuffer>): Row {
  for (const name in row) {
    const value = row[name]!;
    if (value instanceof ArrayBuffer) row[name] = new Uint8Array(value);
    else if (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER)
      bug(`read ${value}`, name);
  }
  return row as Row;
}

export function bug(what: string, text: string): never {
  throw new DatabaseBug(`${what}: ${excerpt(text)}`);
}

export function excerpt(text: string): string {
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

/** A Map keeps the order of insertion, so its first key is the oldest, which makes room for a new one. */
export function remember<Thing>(
  known: Map<string, Thing>,
  text: string,
  make: (text: string) => Thing,
): Thing {
  const found = known.get(text);
  if (found !== undefined) return found;
  const made = make(text);
  if (known.size >= REMEMBERED_TEXTS) known.delete(known.keys().next().value!);
  known.set(text, made);
  return made;
}
