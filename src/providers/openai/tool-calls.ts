/**
 * Calls of a streamed Chat Completions answer. Servers differ in how they number them, so a call is known by its id:
 * pieces without one belong to the call that their number, or else the last piece, began.
 *
 * Invariant: L15 what can't be read as an object stays text and is never run.
 */
import type { CallId } from '../../kernel/index.ts';
import type { ContentBlock } from '../../protocol/index.ts';
import { readInput, readName } from '../call-input.ts';

interface Growing {
  readonly call: CallId;
  readonly wireId: string;
  name: string;
  json: string;
  announced: boolean;
}

interface Piece {
  readonly index: number | null;
  readonly wireId: string;
  readonly name: string;
  readonly json: string;
}

export class ToolCalls {
  readonly #callId: () => CallId;
  readonly #names: readonly string[];
  readonly #calls: Growing[] = [];
  readonly #byIndex = new Map<number, Growing>();
  readonly #byId = new Map<string, Growing>();
  #last: Growing | null = null;

  constructor(options: { readonly callId: () => CallId; readonly names: readonly string[] }) {
    this.#callId = options.callId;
    this.#names = options.names;
  }

  /** One element of `tool_calls`. A call whose name has just become known; null for nothing new. */
  take(piece: unknown): { readonly id: CallId; readonly name: string } | null {
    if (typeof piece !== 'object' || piece === null) return null;
    const part = new Map<string, unknown>(Object.entries(piece));
    const index = typeof part.get('index') === 'number' ? Number(part.get('index')) : null;
    const wireId = textOf(part.get('id'));
    const fn = part.get('function');
    const inner = new Map<string, unknown>(
      typeof fn === 'object' && fn !== null ? Object.entries(fn) : [],
    );
    const name = textOf(inner.get('name'));
    const json = argumentsOf(inner.get('arguments'));
    const growing = this.#find({ index, wireId, name, json });
    // A name that is whole is not said twice, though some servers do.
    if (growing.json === '' && !this.#names.includes(growing.name)) growing.name += name;
    growing.json += json;
    if (growing.announced || growing.name === '') return null;
    growing.announced = true;
    return { id: growing.call, name: readName(growing.name, this.#names) };
  }

  get count(): number {
    return this.#calls.length;
  }

  /** `cut`: the answer ended before its time, so nothing is filled in. */
  whole(cut: boolean): ContentBlock[] {
    return this.#calls
      .filter(({ name }) => name.trim() !== '')
      .map(({ call, name, json }) => ({
        type: 'call',
        id: call,
        name: readName(name, this.#names),
        input: readInput(json, cut),
      }));
  }

  #find(piece: Piece): Growing {
    const { index, wireId, name } = piece;
    const known = wireId === '' ? undefined : this.#byId.get(wireId);
    if (known !== undefined && !this.#beginsAnew(known, piece)) return this.#turnTo(known, index);
    if (wireId === '') {
      const there = (index === null ? null : this.#byIndex.get(index)) ?? this.#last;
      const another = index !== null && !this.#byIndex.has(index) && name !== '';
      if (there != null && !another && !this.#beginsAnew(there, piece)) {
        return this.#turnTo(there, index);
      }
    }
    const fresh: Growing = { call: this.#callId(), wireId, name: '', json: '', announced: false };
    this.#calls.push(fresh);
    if (wireId !== '') this.#byId.set(wireId, fresh);
    return this.#turnTo(fresh, index);
  }

  /** A name behind a call that is whole already, or another name behind one that takes no arguments. */
  #beginsAnew(there: Growing, { name, json }: Piece): boolean {
    if (name === '' || !there.announced) return false;
    if (there.json.trim() !== '') return json !== '' && isWhole(there.json);
    return this.#names.includes(there.name) && this.#names.includes(name) && name !== there.name;
  }

  #turnTo(growing: Growing, index: number | null): Growing {
    if (index !== null) this.#byIndex.set(index, growing);
    this.#last = growing;
    return growing;
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Some servers give the arguments as an object. */
function argumentsOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : '';
}

function isWhole(json: string): boolean {
  return typeof readInput(json, true) === 'object';
}
