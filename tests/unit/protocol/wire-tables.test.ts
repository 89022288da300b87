/** The tables of the wire against each other and against the source: nothing may be called or told that is not in them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { methodParams } from '../../../src/protocol/wire.ts';
import { WIRE_ERRORS } from '../../../src/protocol/wire-errors.ts';
import { METHOD_INFO } from '../../../src/protocol/wire-methods.ts';

/** Rooms whose errors a request can end with. */
const ROOMS = ['control', 'supervisor', 'ipc', 'events', 'mailbox', 'worktree', 'permissions'];

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sources(path);
    return path.endsWith('.ts') ? [readFileSync(path, 'utf8')] : [];
  });
}

test('every code that a request can end with has its line', () => {
  const codes = new Set<string>();
  for (const text of ROOMS.flatMap((room) => sources(`src/${room}`))) {
    for (const [, code] of text.matchAll(/code:\s*'([a-z-]+\/[a-z-]+)'/g)) codes.add(code!);
    for (const [, code] of text.matchAll(/'((?:ask|plan|mailbox)\/[a-z-]+)'/g)) codes.add(code!);
  }
  expect(codes.size).toBeGreaterThan(60);
  expect([...codes].filter((code) => !Object.hasOwn(WIRE_ERRORS, code)).toSorted()).toEqual([]);
});

test('every method has parameters and a line for people, and one of the roles', () => {
  expect(Object.keys(METHOD_INFO).toSorted()).toEqual(Object.keys(methodParams).toSorted());
  for (const { about, roles } of Object.values(METHOD_INFO)) {
    expect(about).toMatch(/^[A-Z].*\.$/);
    expect(roles).toContain('person');
  }
});
