/** Composition root of an actor's thread: ports, transcript and provider put together for one activation. */
import type { ActorRun } from '../../actors/index.ts';
import {
  type AgentEnd,
  Replayer,
  type ReplayerOptions,
  RequestMarks,
  runAgent,
  type Track,
} from '../../agent/index.ts';
import { type ModelSettings, type Price, priceOf, windowOf } from '../../config/index.ts';
import { BlobStore, blobsBeside } from '../../journal/index.ts';
import { asCallId, invariant, mintId } from '../../kernel/index.ts';
import type { Note } from '../../memory/index.ts';
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
import type { ActorStart, JobOutcome, Rate } from '../../protocol/index.ts';
import { type ChosenProvider, type ModelAccess, providerFor } from '../../providers/index.ts';
import { type RunPlaces, readSession } from '../../sessions/index.ts';
import { makeTreeFiles, type TreeOps } from '../../tools/index.ts';
import type { GivenToThreads } from './given.ts';
import { readIgnores } from './ignores.ts';
import { limitWork } from './limit-work.ts';
import { readNotes } from './notes.ts';
import { makeOutputs } from './output-files.ts';
import { realInside } from './real-inside.ts';
import { readTrack } from './recording.ts';

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
  const rateOf = (ref: string): Rate | null => worstOf(priceOf(access.settings.prices, ref));
  const outputs = makeOutputs({ files, clock, random, directory: start.outputsDirectory });
  const entries = await sessionOf(files, start, start.fromSeq);
  const ignores = await readIgnores(start);
  const track = await readTrack(files, start);
  const player = track === null ? null : await playerOf({ files, start, port, track, outputs });
  const chosen = player === null ? choose(start.model) : null;
  const provider = player?.provider ?? chosen?.provider;
  invariant(provider !== undefined, 'an actor has a provider or a recording');
  const fallbacks = (start.profile.fallback ?? [])
    .filter((ref) => ref !== start.model)
    .map((ref) => ({ ref, ...choose(ref), rate: rateOf(ref) }));
  const end = await runAgent(
    {
      start,
      port: player?.port ?? port,
      provider,
      model: chosen?.model ?? start.model,
      // A recording costs nothing.
      rate: player === null ? rateOf(start.model) : null,
      fallbacks,
      random,
      clock,
      entries,
      treeAt: (root) => makeTreeFiles(root, treeOps, ignores),
      notes: async () => notesOf(await readNotes(start), track),
      outputs,
      marks: new RequestMarks(sha256Hex, placesOf(start)),
      limitWork,
      web: fetchWeb,
      look: lookAt,
      context: {
        window:
          start.profile.window ?? windowOf(access.settings.windows, recordedModel(start, track)),
        compactAt: access.settings.compactAt,
      },
    },
    signal,
  );
  return outcomeOf(end);
};

function sessionOf(
  files: NodeFiles,
  start: ActorStart,
  from: number | undefined,
): ReturnType<typeof readSession> {
  const directory = blobsBeside(start.journalDirectory);
  return readSession({
    files,
    directory: start.journalDirectory,
    actor: start.name,
    upTo: start.upToSeq,
    from,
    blobs: new BlobStore({ files, directory, hash: sha256Hex }),
  });
}

/** Its place in the recording is told by all that its name has ever answered. */
async function playerOf(
  what: Pick<ReplayerOptions, 'start' | 'port' | 'track' | 'outputs'> & {
    readonly files: NodeFiles;
  },
): Promise<Replayer> {
  const { files, start, port, track, outputs } = what;
  const entries = await sessionOf(files, start, 0);
  const places = placesOf(start);
  return new Replayer({ start, port, track, entries, places, digest: sha256Hex, clock, outputs });
}

/** What was noted after the recording began was not there then. */
function notesOf(notes: readonly Note[], track: Track | null): readonly Note[] {
  if (track === null) return notes;
  const { createdAt } = track.header;
  return notes.filter(({ noted }) => noted === null || noted.at < createdAt);
}

/** A conversation is compacted when it was: by what its model takes. */
function recordedModel(start: ActorStart, track: Track | null): string {
  if (track === null) return start.model;
  const { models } = track.header;
  return models[start.profile.name] ?? models['*'] ?? start.model;
}

function placesOf(start: ActorStart): RunPlaces {
  const { places, run, permissions } = start;
  return {
    run,
    trees: places?.trees ?? '',
    workspace: places?.workspace ?? '',
    home: permissions.home ?? null,
  };
}

const NO_SETTINGS: ModelSettings = { providers: {}, prices: {}, windows: {}, compactAt: 0.8 };

/** Nobody knows before an answer how much of its input the cache will have. */
function worstOf(price: Price | null): Rate | null {
  if (price === null) return null;
  const { input, output, cacheRead, cacheWrite } = price;
  return { input: Math.max(input, cacheRead, cacheWrite), output };
}

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
