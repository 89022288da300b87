/** A journal in memory, and hands to damage it with. */
import {
  type Journal,
  type OpenJournalOptions,
  openJournal,
  type ReadJournalOptions,
  readJournal,
  type StoredRecord,
  type VerifyReport,
  verifyJournal,
} from '../../../src/journal/index.ts';
import type { Files } from '../../../src/kernel/index.ts';
import { MemoryFiles } from '../../../src/testing/memory-files.ts';
import { SeededRandom } from '../../../src/testing/seeded-random.ts';
import { VirtualClock } from '../../../src/testing/virtual-clock.ts';

export const DIRECTORY = '/runs/r1/journal';
export const FIRST = '000000000001.jsonl';
export const SECOND = '000000000002.jsonl';

export class World {
  files: MemoryFiles;
  readonly clock: VirtualClock = new VirtualClock();
  readonly random: SeededRandom = new SeededRandom('journal');

  constructor(files: MemoryFiles = new MemoryFiles()) {
    this.files = files;
  }

  /** `files` when something must stand between; no reserve unless asked for. */
  open(options: Partial<OpenJournalOptions> = {}): Promise<Journal> {
    const { files, clock, random } = this;
    const limits = { reserveBytes: 0, ...options.limits };
    return openJournal({
      files,
      clock,
      random,
      directory: DIRECTORY,
      name: 'r1',
      ...options,
      limits,
    });
  }

  /** Opens, appends one record a kind in one batch each, and closes. */
  async filled(count: number, options: Partial<OpenJournalOptions> = {}): Promise<void> {
    const journal = await this.open(options);
    for (let index = 1; index <= count; index += 1) {
      await journal.append({ k: 'msg', to: 'ada', n: index }).durable;
    }
    await journal.close();
  }

  async read(options: Partial<ReadJournalOptions> = {}): Promise<StoredRecord[]> {
    const all: StoredRecord[] = [];
    const reading = readJournal({ files: this.files, directory: DIRECTORY, ...options });
    for await (const record of reading) all.push(record);
    return all;
  }

  /** Seqs of what recovery gives, with the journal it opened. */
  async recovered(
    options: Partial<OpenJournalOptions> = {},
  ): Promise<{ journal: Journal; seqs: number[] }> {
    const seqs: number[] = [];
    const journal = await this.open({ ...options, onRecord: (record) => seqs.push(record.s) });
    return { journal, seqs };
  }

  verify(): Promise<VerifyReport> {
    return verifyJournal({ files: this.files, directory: DIRECTORY });
  }

  bytes(file: string = FIRST): Promise<Uint8Array> {
    return this.files.readFile(`${DIRECTORY}/${file}`);
  }

  async text(file: string = FIRST): Promise<string> {
    return new TextDecoder().decode(await this.bytes(file));
  }

  async lines(file: string = FIRST): Promise<string[]> {
    return (await this.text(file)).split('\n').slice(0, -1);
  }

  /** Puts other bytes in a file's place, durable. */
  async put(content: string | Uint8Array, file: string = FIRST): Promise<void> {
    const path = `${DIRECTORY}/${file}`;
    await this.files.remove(path);
    await putFile(this.files, path, content);
  }
}

export async function putFile(
  files: Files,
  path: string,
  content: string | Uint8Array,
): Promise<void> {
  const handle = await files.open(path, 'create');
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  if (bytes.length > 0) handle.write(bytes);
  await handle.datasync();
  await handle.close();
}

export const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);
