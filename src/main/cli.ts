/**
 * Entry of the `troupe` command. It loads as little as `--help` needs; the adapters of the ports, and what needs them,
 * come with `machine.ts` when a command asks for them.
 */
import { readFileSync } from 'node:fs';
import { makeIo, runCli } from '../cli/index.ts';
import { allowManyWaits } from './many-waits.ts';

allowManyWaits();

const io = makeIo(process);

process.exitCode = await runCli({
  io,
  argv: process.argv.slice(2),
  version: readVersion,
  loadMachine: async (given) => (await import('./machine.ts')).makeMachine(given, readVersion()),
});

function readVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const parsed: unknown = JSON.parse(text);
  if (typeof parsed !== 'object' || parsed === null || !('version' in parsed)) return '0.0.0';
  return String(parsed.version);
}
