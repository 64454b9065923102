// What a control plane was last told about each path of a workflow, so that only differences are sent.
//
// It is also what lets a watcher do without a spool: whatever was not told, or may not have been, differs from the disk
// and is found by looking. So before something is sent, its paths are written down as in doubt; the answer settles them.
// Names are kept by directory and digests as bytes: 200,000 paths take 30 MB, as plain strings they took 60.

import type { Observation } from '../schema/wire.ts';
import { addLines, type Line, readLines, writeLines } from './reported-file.ts';

/** What was told counts only for this database and this definition: to others everything is news. */
export interface Addressee {
  readonly database: number;
  readonly definition: string;
}

interface Directory {
  /** Where it was when something was last seen in it; empty if nobody knows. */
  device: string;
  readonly slots: Map<string, number>;
}

/** A line of the file that is about a path. */
type OfPath = Extract<Line, { name: string }>;

export class Reported {
  readonly #file: string;
  readonly #header: string | null;
  readonly #known = new Map<string, string | null>();
  #isRead = false;
  #isOpen = false;
  readonly #directories = new Map<string, Directory>();
  #digests = Buffer.alloc(64 * DIGEST);
  /** Of each slot the number of the look that last saw its path. */
  #seen = new Uint32Array(64);
  #slots = 0;
  readonly #free: number[] = [];
  #look = 1;
  #unsaved: Line[] = [];
  #lines = 0;
  /** The file is what was told, and may be added to. */
  #isWritten = false;
  #lastDirectory = '';

  /** Without an addressee it is the one that the file was written for, and what is in it is not asked for. */
  constructor(file: string, addressee: Addressee | null) {
    this.#file = file;
    this.#header =
      addressee && JSON.stringify({ database: addressee.database, definition: addressee.definition });
  }

  /** Those that were there. */
  get size(): number {
    this.#read();
    return this.#slots - this.#free.length;
  }

  has(path: string): boolean {
    return this.#slotOf(path) !== undefined;
  }

  isNews(observation: Observation): boolean {
    const slot = this.#slotOf(observation.path);
    if ('gone' in observation) return slot !== undefined;
    return slot === undefined || this.#digestAt(slot) !== digestOf(observation.hash);
  }

  /** From here on until it is saved, whoever dies leaves nothing behind that is believed. */
  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#unsaved.push({ kind: 'open' });
    this.#flush();
  }

  /** About to be told: whoever reads this after a crash knows that it may have been, and tells it again. */
  doubt(observations: readonly Observation[]): void {
    if (this.#header !== null) this.#read();
    for (const { path } of observations) {
      const [at, name] = split(path);
      if (this.#isRead) this.#set(at, name, UNKNOWN);
      this.#add(at, { kind: 'doubt', name });
    }
    this.#flush();
  }

  took(observation: Observation): void {
    const [at, name] = split(observation.path);
    if ('gone' in observation) {
      this.#known.set(observation.path, null);
      if (this.#isRead) this.#drop(at, name);
      this.#add(at, { kind: 'gone', name });
      return;
    }
    const digest = digestOf(observation.hash);
    this.#known.set(observation.path, observation.hash);
    if (this.#isRead) this.#set(at, name, digest);
    this.#add(at, { kind: 'told', name, digest });
  }

  /** What was told by this process since it was last saved; null is gone. */
  news(): ReadonlyMap<string, string | null> {
    return this.#known;
  }

  /** What is not seen from here on is to be asked for by `unseen`. */
  beginLook(): void {
    this.#look += 1;
  }

  saw(path: string): void {
    const slot = this.#slotOf(path);
    if (slot !== undefined) this.#seen[slot] = this.#look;
  }

  isSeen(path: string): boolean {
    const slot = this.#slotOf(path);
    return slot === undefined || this.#seen[slot] === this.#look;
  }

  /** At or below a path, what was told to be there and was not seen in this look. */
  unseen(under: string): string[] {
    this.#read();
    if (under !== '/') {
      const [at, name] = split(under);
      const slot = this.#directories.get(at)?.slots.get(name);
      const own = slot !== undefined && this.#seen[slot] !== this.#look ? [under] : [];
      return [...own, ...this.#unseenBelow(`${under}/`)];
    }
    return this.#unseenBelow('/');
  }

  deviceOf(directory: string): string {
    this.#read();
    return this.#directories.get(directory)?.device ?? '';
  }

  /** Told about every directory in which something was seen in this look. */
  keepDevices(deviceOf: (directory: string) => string | null): void {
    for (const [path, directory] of this.#directories) {
      if (directory.slots.size === 0) this.#directories.delete(path);
      else if (some(directory.slots.values(), (slot) => this.#seen[slot] === this.#look)) {
        const device = deviceOf(path);
        if (device === null || device === directory.device) continue;
        directory.device = device;
        this.#lastDirectory = '';
        this.#add(path, null);
      }
    }
  }

  save(): void {
    if (this.#isOpen) this.#unsaved.push({ kind: 'closed' });
    this.#isOpen = false;
    this.#flush();
    this.#known.clear();
  }

  #flush(): void {
    if (this.#unsaved.length === 0) return;
    if (!this.#isRead && this.#header !== null) this.#read();
    const lines = this.#unsaved;
    this.#unsaved = [];
    this.#lines += lines.length;
    const isRoomy = this.#isRead && (!this.#isWritten || this.#lines >= 4 * (this.size + 1_000));
    if (!isRoomy) {
      addLines(this.#file, lines);
      return;
    }
    // Written anew once most of it is what was and is no more.
    writeLines(this.#file, this.#header!, this.#all());
    if (this.#isOpen) addLines(this.#file, [{ kind: 'open' }]);
    this.#isWritten = true;
    this.#lines = this.size;
    this.#lastDirectory = '';
  }

  /** Once somebody asks: a run that goes on from the last verdict never does. */
  #read(): void {
    if (this.#isRead) return;
    if (this.#header === null) throw new Error('what was told before is not asked for here');
    this.#isRead = true;
    const later = [...this.#known];
    let at = '';
    let isOpen = false;
    const read = readLines(this.#file, (line) => {
      this.#lines += 1;
      if (line.kind === 'directory') {
        at = line.path;
        if (line.device !== '') this.#directory(at).device = line.device;
      } else if ('name' in line) this.#takeLine(at, line);
      else isOpen = line.kind === 'open';
    });
    this.#isWritten = read?.header === this.#header && read.end === 'whole' && !isOpen;
    // The names are kept, so that those which are gone by now are told, too.
    if (read?.header !== this.#header || read.end === 'damaged' || isOpen) this.#digests.fill(0);
    // A look may have begun before anybody asked.
    this.#seen.fill(0);
    for (const [path, hash] of later) {
      const [directory, name] = split(path);
      if (hash === null) this.#drop(directory, name);
      else this.#set(directory, name, digestOf(hash));
    }
  }

  #takeLine(at: string, line: OfPath): void {
    if (line.kind === 'gone') this.#drop(at, line.name);
    else this.#set(at, line.name, line.kind === 'told' ? line.digest : UNKNOWN);
  }

  *#all(): Generator<Line> {
    for (const [path, { device, slots }] of this.#directories) {
      if (slots.size === 0) continue;
      yield { kind: 'directory', path, device };
      for (const [name, slot] of slots) {
        const digest = this.#digestAt(slot);
        yield digest === UNKNOWN ? { kind: 'doubt', name } : { kind: 'told', name, digest };
      }
    }
  }

  #add(at: string, line: Line | null): void {
    if (at !== this.#lastDirectory) {
      this.#unsaved.push({ kind: 'directory', path: at, device: this.#directories.get(at)?.device ?? '' });
      this.#lastDirectory = at;
    }
    if (line !== null) this.#unsaved.push(line);
  }

  #unseenBelow(prefix: string): string[] {
    this.#read();
    const found: string[] = [];
    for (const [at, { slots }] of this.#directories) {
      const base = at === '/' ? '/' : `${at}/`;
      if (!base.startsWith(prefix)) continue;
      for (const [name, slot] of slots) if (this.#seen[slot] !== this.#look) found.push(base + name);
    }
    return found;
  }

  #slotOf(path: string): number | undefined {
    this.#read();
    const [at, name] = split(path);
    return this.#directories.get(at)?.slots.get(name);
  }

  #digestAt(slot: number): string {
    return this.#digests.toString('hex', slot * DIGEST, slot * DIGEST + DIGEST);
  }

  #directory(at: string): Directory {
    const known = this.#directories.get(at);
    if (known !== undefined) return known;
    const made: Directory = { device: '', slots: new Map() };
    this.#directories.set(at, made);
    return made;
  }

  /** What was just told is there, whatever a look that is under way has seen. */
  #set(at: string, name: string, digest: string): void {
    const { slots } = this.#directory(at);
    const slot = slots.get(name) ?? this.#newSlot();
    slots.set(name, slot);
    this.#digests.write(digest, slot * DIGEST, 'hex');
    this.#seen[slot] = this.#look;
  }

  #drop(at: string, name: string): void {
    const slots = this.#directories.get(at)?.slots;
    const slot = slots?.get(name);
    if (slot === undefined) return;
    slots!.delete(name);
    this.#free.push(slot);
  }

  #newSlot(): number {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    if (this.#slots === this.#seen.length) {
      const seen = new Uint32Array(this.#slots * 2);
      seen.set(this.#seen);
      this.#seen = seen;
      this.#digests = Buffer.concat([this.#digests], this.#slots * 2 * DIGEST);
    }
    return this.#slots++;
  }
}

const DIGEST = 32;
const UNKNOWN = '0'.repeat(64);

function digestOf(hash: string): string {
  return hash.slice('blake3:'.length);
}

function split(path: string): readonly [directory: string, name: string] {
  const slash = path.lastIndexOf('/');
  return [slash === 0 ? '/' : path.slice(0, slash), path.slice(slash + 1)];
}

function some<T>(values: Iterable<T>, is: (value: T) => boolean): boolean {
  for (const value of values) if (is(value)) return true;
  return false;
}
