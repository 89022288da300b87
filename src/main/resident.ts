/**
 * The process of a supervisor that is up, as its parent starts it: it takes up what was going on, serves the socket, and
 * goes down when it is told to. Its parent hears when it is ready, or why it is not.
 */
import { makeIo } from '../cli/index.ts';
import { readSettings, type Workspace } from '../control/index.ts';
import { ensureError, type Logger, toErrorShape } from '../kernel/index.ts';
import { JsonLogger } from '../platform/index.ts';
import { openHosted } from './hosting.ts';
import { type FromKept, logFolder } from './keep/keeper.ts';
import { LOG_BYTES_MAX, LOG_FILES } from './keep/limits.ts';
import { isThere, readNote } from './keep/note.ts';
import { makeMachine } from './machine.ts';
import { allowManyWaits } from './many-waits.ts';
import { type Resident, residents } from './residents.ts';
import { TakeUp } from './take-up.ts';
import { readVersion } from './version.ts';

/** What `down` gives running work when nobody says: a signal came. */
const SIGNAL_DEADLINE_MS = 30_000;
/** For all files to be closed, once nothing runs any more. */
const CLOSE_MS = 20_000;

allowManyWaits();
const io = makeIo(process);

await main().catch((error: unknown) => {
  tell({ type: 'failed', error: toErrorShape(error) });
  io.err.write(`${ensureError(error).stack ?? ''}\n`);
  process.exitCode = 1;
  if (process.connected) process.disconnect();
});

async function main(): Promise<void> {
  const [directory = '.'] = process.argv.slice(2);
  const machine = makeMachine(io, readVersion());
  const workspace = await machine.openWorkspace(directory);
  const logger = await openLog(workspace);
  process.on('uncaughtExceptionMonitor', (error) => {
    logger.log('error', 'the supervisor crashes', { error });
  });
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const takeUp = new TakeUp(workspace.deps.clock, logger);
  const host = await openHosted(io, workspace, logger, {
    log: logFolder(workspace.places.state),
    parent: () => parentOf(workspace.places.state),
    left: () => takeUp.left(),
    forget: (run) => takeUp.forget(run),
    end,
    begin: (supervisor, opened) => takeUp.begin(supervisor, opened),
  });
  const living: Resident[] = residents.map((make) => make({ ...host, workspace, logger }));
  listen(async (now) => {
    await host.client.call('supervisor.down', { now, deadlineMs: SIGNAL_DEADLINE_MS });
  }, logger);
  logger.log('info', 'ready', { pid: process.pid });
  tell({ type: 'ready' });
  await ended;
  setTimeout(() => {
    logger.log('error', 'not all could be closed in time');
    process.exit(0);
  }, CLOSE_MS).unref();
  takeUp.stop();
  await Promise.all(living.map((one) => one.stop()));
  await host.close();
  logger.log('info', 'down');
  process.exit(0);
}

async function openLog({ deps, places }: Workspace): Promise<JsonLogger> {
  const { log } = await readSettings(deps, places);
  return new JsonLogger({
    clock: deps.clock,
    file: `${logFolder(places.state)}/supervisor.log`,
    rotate: { bytes: LOG_BYTES_MAX, files: LOG_FILES },
    level: log.value === 'debug' || io.env['TROUPE_DEBUG'] === '1' ? 'debug' : 'info',
    fields: { pid: process.pid },
  });
}

/** Its own, or one that took it over. */
function parentOf(state: string): number | null {
  if (process.connected) return process.ppid;
  const note = readNote(state);
  return note !== null && note.supervisor === process.pid && isThere(note) ? note.pid : null;
}

function listen(down: (now: boolean) => Promise<void>, logger: Logger): void {
  let asked = 0;
  const stop = (name: string): void => {
    asked += 1;
    logger.log('info', 'asked to go down', { by: name });
    down(asked > 1).catch((error: unknown) => {
      logger.log('error', 'could not go down in order', { error });
      process.exit(1);
    });
  };
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, stop);
  process.on('SIGHUP', () => undefined);
  process.on('disconnect', () => {
    logger.log(
      'warn',
      'the parent is gone: nothing starts this supervisor again; `troupe up` mends that',
    );
  });
}

function tell(message: FromKept): void {
  process.send?.(message);
}
