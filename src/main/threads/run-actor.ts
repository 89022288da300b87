/** Composition root of an actor's thread: ports, transcript and provider put together for one activation. */
import type { ActorRun } from '../../actors/index.ts';
import { type AgentEnd, runAgent } from '../../agent/index.ts';
import { type ModelSettings, windowOf } from '../../config/index.ts';
import { BlobStore, blobsBeside } from '../../journal/index.ts';
import { asCallId, mintId } from '../../kernel/index.ts';
import {
  CryptoRandom,
  fetchWeb,
  listInside,
  lookAt,
  makeDirectoriesInside,
  NodeFiles,
  readInside,
  SystemClock,
  sha256Hex,
  statInside,
  writeInside,
} from '../../platform/index.ts';
import type { JobOutcome } from '../../protocol/index.ts';
import { type ChosenProvider, type ModelAccess, providerFor } from '../../providers/index.ts';
import { readSession } from '../../sessions/index.ts';
import { makeTreeFiles, type TreeOps } from '../../tools/index.ts';
import type { GivenToThreads } from './given.ts';
import { limitWork } from './limit-work.ts';
import { readNotes } from './notes.ts';
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
export const runActor: ActorRun = async (start, port, signal, given) => {
  const files = new NodeFiles();
  const random = new CryptoRandom();
  const access = accessOf(given as GivenToThreads | undefined);
  const choose = (ref: string): ChosenProvider =>
    providerFor(ref, {
      clock,
      callId: () => asCallId(mintId('cal', { clock, random })),
      scripts: start.scripts,
      access: { ...access, fetch: (input, init) => fetch(input, init), onWarn: warn },
    });
  const { provider, model } = choose(start.model);
  const fallbacks = (start.profile.fallback ?? [])
    .filter((ref) => ref !== start.model)
    .map((ref) => ({ ref, ...choose(ref) }));
  const entries = await readSession({
    files,
    directory: start.journalDirectory,
    actor: start.name,
    upTo: start.upToSeq,
    from: start.fromSeq,
    blobs: new BlobStore({
      files,
      directory: blobsBeside(start.journalDirectory),
      hash: sha256Hex,
    }),
  });
  const end = await runAgent(
    {
      start,
      port,
      provider,
      model,
      fallbacks,
      random,
      clock,
      entries,
      treeAt: (root) => makeTreeFiles(root, treeOps),
      notes: () => readNotes(start),
      outputs: makeOutputs({ files, clock, random, directory: start.outputsDirectory }),
      limitWork,
      web: fetchWeb,
      look: lookAt,
      context: {
        window: windowOf(access.settings.windows, start.model),
        compactAt: access.settings.compactAt,
      },
    },
    signal,
  );
  return outcomeOf(end);
};

const NO_SETTINGS: ModelSettings = { providers: {}, prices: {}, windows: {}, compactAt: 0.8 };

/** A host that gives nothing has the scripted provider alone. */
function accessOf(given: GivenToThreads | undefined): Pick<ModelAccess, 'settings' | 'secrets'> {
  return given === undefined
    ? { settings: NO_SETTINGS, secrets: {} }
    : { settings: given.models, secrets: given.secrets };
}

function warn(text: string): void {
  process.stderr.write(`troupe: ${text}\n`);
}

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
