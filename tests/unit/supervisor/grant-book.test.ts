/** P52, P53: what the book of grants writes, and what a word that comes late does to it. */
import { describe, expect, it } from 'vitest';
import { isoTime } from '../../../src/kernel/index.ts';
import { GRANT_USE_STEP_MS } from '../../../src/permissions/index.ts';
import type { Grant } from '../../../src/protocol/index.ts';
import { GrantBook } from '../../../src/supervisor/grants.ts';
import { VirtualClock } from '../../../src/testing/virtual-clock.ts';

type Written = { readonly k: string; readonly [field: string]: unknown };

const START = Date.parse('2026-01-01T00:00:00.000Z');
const GRANT: Grant = {
  id: 'g1',
  scope: 'workspace',
  profile: null,
  pattern: 'git fetch',
  rules: [],
  pins: {},
  by: 'ann',
  at: isoTime(START),
  expiresAt: null,
  lastUsedAt: null,
  ask: 'a1',
  run: 'r1',
};

/** A chain whose records become durable when the test says so, in their order. */
function makeBook() {
  const written: Written[] = [];
  const waiting: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const book = new GrantBook(new VirtualClock());
  book.open({
    write: (body) => {
      written.push(body);
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
    },
  });
  book.take({ k: 'grant', what: 'grant.given', body: GRANT });
  const at = (ms: number): string => isoTime(START + ms);
  return { book, written, waiting, at };
}

describe('uses of a grant of the workspace', () => {
  it('P52: are written once an hour, also those that come before the first is durable', async () => {
    const { book, written, waiting, at } = makeBook();
    const burst = Array.from({ length: 1000 }, (_, index) => book.used('g1', at(index)));
    expect(written).toHaveLength(1);
    waiting.shift()?.resolve();
    await Promise.all(burst);
    for (let ms = 1000; ms < GRANT_USE_STEP_MS; ms += 1000) await book.used('g1', at(ms));
    expect(written).toHaveLength(1);
    expect(book.grants.get('g1')?.lastUsedAt).toBe(at(0));
    const next = book.used('g1', at(GRANT_USE_STEP_MS));
    waiting.shift()?.resolve();
    await next;
    expect(written).toHaveLength(2);
    expect(book.grants.get('g1')?.lastUsedAt).toBe(at(GRANT_USE_STEP_MS));
  });

  it('P52: one that could not be written is tried again with the next', async () => {
    const { book, written, waiting, at } = makeBook();
    const first = book.used('g1', at(0));
    waiting.shift()?.reject(new Error('no space'));
    await expect(first).rejects.toThrow('no space');
    void book.used('g1', at(1));
    expect(written).toHaveLength(2);
  });

  it('P53: do not bring back what was revoked meanwhile, neither live nor by replay', async () => {
    const { book, written, waiting, at } = makeBook();
    const revoked = book.revoke('g1', 'ann');
    const used = book.used('g1', at(0));
    for (const one of waiting.splice(0)) one.resolve();
    await Promise.all([revoked, used]);
    expect(written.map((body) => body['what'])).toEqual(['grant.revoked', 'grant.used']);
    expect(book.grants.size).toBe(0);
    const again = new GrantBook(new VirtualClock());
    again.take({ k: 'grant', what: 'grant.given', body: GRANT });
    for (const body of written) again.take(body);
    expect(again.grants.size).toBe(0);
  });
});
