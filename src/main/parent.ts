/**
 * The detached process above a supervisor that `troupe up` starts. Who started it is told over the channel when the
 * supervisor is ready, or why it did not get there; then it is on its own.
 */
import { EXIT, toErrorShape } from '../kernel/errors.ts';
import { keepSupervisor } from './keep/run.ts';

const [directory = '.', adopt] = process.argv.slice(2);

const env: Record<string, string> = {};
for (const [name, value] of Object.entries(process.env)) if (value !== undefined) env[name] = value;

/** Once; who started it may have gone. */
function tell(message: object): void {
  if (!process.connected) return;
  process.send?.(message, () => {
    if (process.connected) process.disconnect();
  });
}

try {
  const kept = await keepSupervisor({
    directory,
    env,
    adopt: adopt === undefined ? undefined : Number(adopt),
    onReady: (pid) => tell({ type: 'ready', pid }),
  });
  if (kept.kind === 'failed') tell({ type: 'failed', error: kept.error });
  process.exitCode = kept.kind === 'down' ? EXIT.ok : EXIT.unfinished;
} catch (error) {
  tell({ type: 'failed', error: toErrorShape(error) });
  process.exitCode = EXIT.unfinished;
}
