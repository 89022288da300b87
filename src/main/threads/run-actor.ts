/** Composition root of an actor's thread: ports, transcript and provider put together for one activation. */
import type { ActorRun } from '../../actors/index.ts';
import { type AgentEnd, runAgent } from '../../agent/index.ts';
import { asCallId, mintId } from '../../kernel/index.ts';
import {
  CryptoRandom,
  listInside,
  makeDirectoriesInside,
  NodeFiles,
  readInside,
  SystemClock,
  statInside,
  writeInside,
} from '../../platform/index.ts';
import type { JobOutcome } from '../../protocol/index.ts';
import { providerFor } from '../../providers/index.ts';
import { readSession } from '../../sessions/index.ts';
import { makeTreeFiles, type TreeOps } from '../../tools/index.ts';
import { limitWork } from './limit-work.ts';
import { makeOutputs } from './output-files.ts';
import { realInside } from './real-inside.ts';

export const clock: SystemClock = new SystemClock();

const treeOps: TreeOps = {
  realInside,
  readInside,
  writeInside,
  makeDirectoriesInside,
  statInside,
  listInside,
};

/** Holds nothing between activations: pool threads are used again. */
export const runActor: ActorRun = async (start, port, signal) => {
  const files = new NodeFiles();
  const random = new CryptoRandom();
  const { provider, model } = providerFor(start.model, {
    clock,
    callId: () => asCallId(mintId('cal', { clock, random })),
    scripts: start.scripts,
  });
  const entries = await readSession({
    files,
    directory: start.journalDirectory,
    actor: start.name,
    upTo: start.upToSeq,
  });
  const end = await runAgent(
    {
      start,
      port,
      provider,
      model,
      clock,
      entries,
      treeAt: (root) => makeTreeFiles(root, treeOps),
      outputs: makeOutputs({ files, clock, random, directory: start.outputsDirectory }),
      limitWork,
    },
    signal,
  );
  return outcomeOf(end);
};

/** A stop is an end without a text; what failed keeps its code. */
function outcomeOf(end: AgentEnd): JobOutcome | undefined {
  switch (end.kind) {
    case 'finished':
      return end;
    case 'stuck':
      return { kind: 'stuck', code: end.code, message: end.message };
    case 'failed':
      return { kind: 'stuck', code: end.error.code, message: end.error.message };
    case 'stopped':
      return undefined;
  }
}
