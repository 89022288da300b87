/**
 * `Random` from a seed. A fork depends on the seed, its name and how often that name was forked before, never on what
 * was drawn meanwhile: a new consumer shifts nobody, and one that is made again (after a simulated crash) does not
 * repeat the ids of its predecessor.
 */
import type { Random } from '../kernel/index.ts';

const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz';

export class SeededRandom implements Random {
  readonly #seed: string;
  readonly #forks = new Map<string, number>();
  readonly #draw: () => number;

  constructor(seed: number | string) {
    this.#seed = String(seed);
    this.#draw = sfc32(hash128(this.#seed));
  }

  next(): number {
    const high = this.#draw() >>> 5;
    const low = this.#draw() >>> 6;
    return (high * 2 ** 26 + low) / 2 ** 53;
  }

  id(length: number): string {
    let text = '';
    while (text.length < length) text += ALPHABET.charAt(Math.floor(this.next() * ALPHABET.length));
    return text;
  }

  fork(name: string): Random {
    const count = this.#forks.get(name) ?? 0;
    this.#forks.set(name, count + 1);
    return new SeededRandom(`${this.#seed}/${name}#${String(count)}`);
  }

  /** A whole number in [0, below). */
  below(below: number): number {
    return Math.floor(this.next() * below);
  }

  /** One of a list; undefined of an empty one. */
  pick<T>(list: readonly T[]): T | undefined {
    return list[this.below(list.length)];
  }
}

type State128 = readonly [number, number, number, number];

/** cyrb128: spreads a text over 128 bits. */
function hash128(text: string): State128 {
  let [a, b, c, d] = [1_779_033_703, 3_144_134_277, 1_013_904_242, 2_773_480_762];
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    a = b ^ Math.imul(a ^ unit, 597_399_067);
    b = c ^ Math.imul(b ^ unit, 2_869_860_233);
    c = d ^ Math.imul(c ^ unit, 951_274_213);
    d = a ^ Math.imul(d ^ unit, 2_716_044_179);
  }
  a = Math.imul(c ^ (a >>> 18), 597_399_067);
  b = Math.imul(d ^ (b >>> 22), 2_869_860_233);
  c = Math.imul(a ^ (c >>> 17), 951_274_213);
  d = Math.imul(b ^ (d >>> 19), 2_716_044_179);
  return [a ^ b ^ c ^ d, b ^ a, c ^ a, d ^ a];
}

/** sfc32: small, fast, passes PractRand; the first draws are thrown away, so that near seeds part. */
function sfc32(seed: State128): () => number {
  let [a, b, c, d] = seed;
  const draw = (): number => {
    const sum = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    c |= 0;
    return sum >>> 0;
  };
  for (let index = 0; index < 15; index += 1) draw();
  return draw;
}
