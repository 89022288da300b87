/** Commands of jobs: a person's, in the checkout, with the person's rights; output beside the workspace journal. */
import { HISTORY_MAX } from '../../cron/index.ts';
import { asProcId } from '../../kernel/index.ts';
import { howItEnded } from '../decide/letters.ts';
import { markerOf, ProcessHost, type ProcessHostDeps } from '../effects/commands.ts';
import { KILL_GRACE_MS } from '../limits.ts';
import type { CronCommands } from './contract.ts';

type Deps = Omit<ProcessHostDeps, 'run' | 'outputsDirectory' | 'sandbox'> & {
  /** Of Troupe in this repository. */
  readonly directory: string;
  /** The checkout. */
  readonly root: string;
};

/** A name that no run has, since those have no dot. */
const RUN = '.cron';

export function cronCommands(deps: Deps): CronCommands {
  const outputsDirectory = `${deps.directory}/workspace/cron`;
  const running = new Map<string, ProcessHost>();
  let closed = false;
  return {
    run: async ({ id, command, timeoutMs, env }) => {
      if (closed) return { failed: null, killed: true };
      await deps.files.makeDirectory(outputsDirectory);
      await deps.files.remove(`${outputsDirectory}/${id}.log`);
      await deps.files.remove(`${outputsDirectory}/${before(id)}.log`);
      const environment = { ...deps.environment, ...env };
      const host = new ProcessHost({
        ...deps,
        environment,
        run: RUN,
        outputsDirectory,
        sandbox: null,
      });
      running.set(id, host);
      const outcome = await host.run({
        id: asProcId(id),
        command,
        cwd: deps.root,
        writable: true,
        by: 'team',
        timeoutMs,
        tailOnly: true,
      });
      running.delete(id);
      const ok = outcome.why === 'exit' && outcome.code === 0;
      const end = outcome.text.trimEnd().split('\n').slice(-3).join('\n');
      const said = end === '' ? '' : `: ${end}`;
      return {
        failed: ok ? null : `the command ${howItEnded(outcome)}${said}`,
        killed: outcome.why === 'killed',
      };
    },
    kill: (id) => running.get(id)?.kill(asProcId(id)),
    sweep: async () => {
      await deps.exec.sweep(markerOf({ scope: deps.scope, run: RUN }));
    },
    close: async () => {
      closed = true;
      await Promise.all([...running.values()].map((host) => host.close(KILL_GRACE_MS)));
    },
  };
}

/** The output of the entry that leaves the history when this one comes. */
function before(id: string): string {
  const [, name = '', n = '0', rest = ''] = /^(.*)-(\d+)(-notice)?$/.exec(id) ?? [];
  return `${name}-${Number(n) - HISTORY_MAX}${rest}`;
}
