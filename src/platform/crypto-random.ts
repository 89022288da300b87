/** `Random` from the operating system's generator. Forks are all the same source: there is nothing to keep apart. */
import { randomBytes } from 'node:crypto';
import { customAlphabet } from 'nanoid';
import type { Random } from '../kernel/ports.ts';

const makeId = customAlphabet('0123456789abcdefghijklmnopqrstuvwxyz');

export class CryptoRandom implements Random {
  next(): number {
    const bytes = randomBytes(7);
    // 53 bits, as many as a double holds below 1.
    return (bytes.readUIntBE(0, 6) * 32 + (bytes.readUInt8(6) >> 3)) / 2 ** 53;
  }

  id(length: number): string {
    return length <= 0 ? '' : makeId(length);
  }

  fork(_name: string): Random {
    return this;
  }
}
