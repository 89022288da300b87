/** Repositories of their own, each beside a model server of its own; all are gone after each test. */
import { afterEach } from 'vitest';
import { type ModelRun, openModelRun } from '../support/model-run.ts';
import type { ModelAnswer } from '../support/model-server/answer.ts';
import type { Seen } from '../support/model-server/server.ts';
import { makeWorld, type World } from './cli-world.ts';

export function useModelWorlds(): (
  answer: (seen: Seen) => ModelAnswer,
) => Promise<{ world: World; line: ModelRun }> {
  const cleanups: (() => void | Promise<void>)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0)) await cleanup();
  });
  return async (answer) => {
    const world = makeWorld();
    const line = await openModelRun(world, answer);
    cleanups.push(
      () => line.close(),
      () => world.remove(),
    );
    return { world, line };
  };
}
