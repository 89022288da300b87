/**
 * The notes of agents, kept in one file beside the workspace journal.
 *
 * Invariants
 * - Y1 The file is whole at any crash: the old one or the new one.
 * - Y2 A note is kept once, by its id, however often it is given; what says the same as one that is there is not added.
 */
import { writeAtomic } from '../journal/index.ts';
import { type Files, systemCode } from '../kernel/index.ts';
import { KEPT_BYTES_MAX } from './limits.ts';
import { formatNote, type Note, parseNotes, sameText } from './note.ts';

const NAME = 'MEMORY.md';
const HEAD = '# What agents noted of this repository\n\n';

export class MemoryStore {
  readonly #files: Files;
  readonly #directory: string;
  #last: Promise<void> = Promise.resolve();

  constructor(files: Files, directory: string) {
    this.#files = files;
    this.#directory = directory;
  }

  get path(): string {
    return `${this.#directory}/${NAME}`;
  }

  /** One after the other. Resolves when the notes are on stable storage. */
  keep(notes: readonly Note[]): Promise<void> {
    const next = this.#last.then(() => this.#write(notes));
    this.#last = next.catch(() => undefined);
    return next;
  }

  async #write(notes: readonly Note[]): Promise<void> {
    const kept = parseNotes(await this.#read());
    const ids = new Set(kept.map(({ noted }) => noted?.id));
    const texts = new Set(kept.map(({ text }) => sameText(text)));
    const fresh = notes.filter(({ text, noted }) => {
      if (ids.has(noted?.id) || texts.has(sameText(text))) return false;
      texts.add(sameText(text));
      return true;
    });
    if (fresh.length === 0) return;
    await this.#files.makeDirectory(this.#directory);
    const bytes = new TextEncoder().encode(fitting([...kept, ...fresh]));
    await writeAtomic(this.#files, { directory: this.#directory, name: NAME }, { parts: [bytes] });
  }

  async #read(): Promise<string> {
    try {
      return new TextDecoder().decode(await this.#files.readFile(this.path));
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return '';
      throw error;
    }
  }
}

/** As many of the newest as there is room for. */
function fitting(notes: readonly Note[]): string {
  const lines: string[] = [];
  let size = HEAD.length;
  for (const note of notes.toReversed()) {
    const line = `${formatNote(note)}\n`;
    size += new TextEncoder().encode(line).length;
    if (size > KEPT_BYTES_MAX) break;
    lines.unshift(line);
  }
  return HEAD + lines.join('');
}
