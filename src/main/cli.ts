/**
 * Entry of the `troupe` command. It loads as little as `--help` needs; the adapters of the ports, and what needs them,
 * come with `machine.ts` when a command asks for them.
 */
import { makeIo, runCli } from '../cli/index.ts';
import { allowManyWaits } from './many-waits.ts';
import { readVersion } from './version.ts';

allowManyWaits();

const io = makeIo(process);

process.exitCode = await runCli({
  io,
  argv: process.argv.slice(2),
  version: readVersion,
  loadKeeper: async () => (await import('./keep/run.ts')).keepSupervisor,
  loadMachine: async (given) => (await import('./machine.ts')).makeMachine(given, readVersion()),
});
