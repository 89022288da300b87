import { describe, expect, it } from 'vitest';
import type { Random } from '../../src/kernel/index.ts';
import { CryptoRandom } from '../../src/platform/index.ts';
import { SeededRandom } from '../../src/testing/index.ts';

const subjects: Record<string, () => Random> = {
  CryptoRandom: () => new CryptoRandom(),
  SeededRandom: () => new SeededRandom(7),
};

function draws(random: Random, count = 8): number[] {
  return Array.from({ length: count }, () => random.next());
}

describe.each(Object.entries(subjects))('Random: %s', (_name, make) => {
  it('draws from [0, 1), all over', () => {
    const values = draws(make(), 4000);
    expect(values.every((value) => value >= 0 && value < 1)).toBe(true);
    const tenths = new Set(values.map((value) => Math.floor(value * 10)));
    expect(tenths.size).toBe(10);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    expect(Math.abs(mean - 0.5)).toBeLessThan(0.05);
  });

  it('makes ids of the asked length and of [0-9a-z] only, and none twice', () => {
    const random = make();
    expect(random.id(0)).toBe('');
    expect(random.id(3)).toMatch(/^[0-9a-z]{3}$/);
    const ids = Array.from({ length: 2000 }, () => random.id(10));
    expect(ids.every((id) => /^[0-9a-z]{10}$/.test(id))).toBe(true);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('forks streams that do not repeat each other', () => {
    const random = make();
    const forks = [random.fork('a'), random.fork('b'), random.fork('a')];
    expect(new Set(forks.flatMap((fork) => draws(fork))).size).toBe(24);
  });
});

describe('SeededRandom', () => {
  it('repeats itself by its seed', () => {
    expect(draws(new SeededRandom(42))).toEqual(draws(new SeededRandom(42)));
    expect(draws(new SeededRandom(42))).not.toEqual(draws(new SeededRandom(43)));
    expect(new SeededRandom('x').id(12)).toBe(new SeededRandom('x').id(12));
  });

  it('gives a fork the same stream whatever was drawn or forked before', () => {
    const quiet = new SeededRandom(1).fork('backoff');
    const busy = new SeededRandom(1);
    draws(busy, 100);
    draws(busy.fork('newcomer'));
    expect(draws(busy.fork('backoff'))).toEqual(draws(quiet));
  });

  it('picks within bounds', () => {
    const random = new SeededRandom(3);
    const picked = new Set(Array.from({ length: 200 }, () => random.pick(['a', 'b', 'c'])));
    expect(picked).toEqual(new Set(['a', 'b', 'c']));
    expect(random.pick([])).toBeUndefined();
  });
});
