/**
 * The layers of a policy (permissions §2.3), read from their files into one snapshot: for runs and for `troupe policy` alike.
 *
 * Invariants
 * - P3 A repository's own policy allows nothing before a person has trusted exactly its content.
 * - P20 A file that can't be used any more leaves the layer as it was, without what it allows.
 */
import { parsePolicy } from '../config/index.ts';
import { EXIT, isTroupeError, systemCode, TroupeError } from '../kernel/errors.ts';
import { whyNot } from '../kernel/unread.ts';
import { checkPolicy, type Layer } from '../permissions/index.ts';
import type { PolicyFile, PolicySnapshot } from '../protocol/index.ts';
import type { ControlDeps } from './deps.ts';
import { listFolder } from './files.ts';
import { POLICY_BYTES_MAX, POLICY_FILES_MAX } from './limits.ts';
import { problemsError } from './settings.ts';

/** Where the layers of a policy lie when no file is named. */
export interface PolicyPlaces {
  readonly admin: string;
  readonly user: string;
  /** Null outside of a repository. */
  readonly project: string | null;
  /** Whether a file or folder belongs to the administrator alone; others in that folder are refused. */
  readonly ownedByAdmin: (path: string) => boolean;
}

/** The folder of the administrator's policy on this kind of machine. */
const ADMIN_POLICY = '/etc/troupe/policy.d';

/** `folder` holds the user's settings; `root` the repository's. */
export function policyPlaces(o: {
  readonly userConfig: string;
  readonly root: string | null;
  readonly ownedByAdmin: (path: string) => boolean;
}): PolicyPlaces {
  return {
    admin: ADMIN_POLICY,
    user: `${o.userConfig}/policy.yaml`,
    project: o.root === null ? null : `${o.root}/.troupe/policy.yaml`,
    ownedByAdmin: o.ownedByAdmin,
  };
}

export interface LayerSources {
  /** Stands for all files, when a person names it. */
  readonly named: { readonly path: string; readonly shown: string } | null;
  readonly places: PolicyPlaces;
  readonly isTrusted: (hash: string) => boolean;
  /** Of a run: what its team file says. */
  readonly team: Layer | null;
  /** Hash of each pinned file as it counts; null: it is not there. */
  readonly pinned: (files: readonly string[]) => Promise<PolicySnapshot['pins']>;
}

export interface Loaded {
  readonly snapshot: PolicySnapshot;
  readonly warnings: readonly string[];
}

type Deps = Pick<ControlDeps, 'files' | 'sha256'>;

/** Throws `control/policy` (exit 2) with file, line and column for the first layer that can't be used. */
export function loadLayers(deps: Deps, sources: LayerSources): Promise<Loaded> {
  return collect(deps, sources, (error) => {
    throw error;
  });
}

/** As `loadLayers`, but what can't be used stands as in `last`, allows nothing, and says why. */
export function reloadLayers(
  deps: Deps,
  sources: LayerSources,
  last: PolicySnapshot,
): Promise<Loaded> {
  return collect(
    deps,
    sources,
    (error, { name, path }) => {
      const known = last.layers.find((layer) => layer.origin === path);
      const problem = error.message;
      // A new file that can't be read denies nothing yet, but nobody may think that it does.
      const file = known?.file ?? NOTHING;
      const hash = known?.hash;
      return {
        name,
        origin: path,
        file,
        trusted: false,
        problem,
        ...(hash === undefined ? {} : { hash }),
      };
    },
    last,
  );
}

export interface LayerState {
  readonly name: Layer['name'];
  readonly path: string;
  /** Null: there is no such file, or it can't be used. */
  readonly layer: Layer | null;
  readonly error: TroupeError | null;
  readonly warnings: readonly string[];
}

/** Each place by itself: what is wrong with one hides nothing of the others. */
export async function layerStates(
  deps: Deps,
  places: PolicyPlaces,
  isTrusted: (hash: string) => boolean,
): Promise<LayerState[]> {
  const states: LayerState[] = [];
  for (const place of await placesOf(deps, places, null)) {
    const { name, path } = place;
    const warnings: string[] = [];
    try {
      if (name === 'admin') requireOwned(places, path);
      const layer = await readLayer(deps, { isTrusted }, { place, needed: false, warnings });
      states.push({ name, path, layer, error: null, warnings });
    } catch (error) {
      states.push({ name, path, layer: null, error: asPolicyError(error, place), warnings });
    }
  }
  return states;
}

const NOTHING: PolicyFile = {
  version: 1,
  defaults: {},
  actors: {},
  profiles: {},
  rules: [],
  lift: [],
};

interface Place {
  readonly name: Layer['name'];
  readonly path: string;
  readonly shown?: string;
}

async function collect(
  deps: Deps,
  sources: LayerSources,
  failed: (error: TroupeError, place: Place) => Layer,
  last: PolicySnapshot | null = null,
): Promise<Loaded> {
  const warnings: string[] = [];
  const layers: Layer[] = [];
  const gone = (place: Place): boolean =>
    last?.layers.some((layer) => layer.origin === place.path) ?? false;
  const add = async (place: Place, needed: boolean): Promise<void> => {
    try {
      if (place.name === 'admin') requireOwned(sources.places, place.path);
      const layer = await readLayer(deps, sources, { place, needed, warnings });
      if (layer !== null) layers.push(layer);
    } catch (error) {
      layers.push(failed(asPolicyError(error, place), place));
    }
  };
  if (sources.named !== null) await add({ name: 'user', ...sources.named }, true);
  else {
    for (const place of await placesOf(deps, sources.places, last)) {
      // What was there and is gone is no reason to allow more than before.
      await add(place, gone(place));
    }
  }
  if (sources.team !== null) layers.push(sources.team);
  const files = [...new Set(layers.flatMap(pinsOf))].toSorted();
  const pins = files.length === 0 ? {} : await sources.pinned(files);
  return {
    snapshot: Object.freeze({ revision: revisionOf(deps, layers, pins), layers, pins }),
    warnings,
  };
}

/** In the order in which layers count: administrator, user, repository. */
async function placesOf(
  deps: Deps,
  places: PolicyPlaces,
  last: PolicySnapshot | null,
): Promise<Place[]> {
  const found = (await listFolder(deps.files, places.admin))
    .filter((name) => /\.(ya?ml|json)$/.test(name))
    .slice(0, POLICY_FILES_MAX)
    .map((name) => `${places.admin}/${name}`);
  const before = last?.layers.filter((layer) => layer.name === 'admin') ?? [];
  const admin = [...new Set([...found, ...before.map((layer) => layer.origin)])].toSorted();
  return [
    ...admin.map((path): Place => ({ name: 'admin', path })),
    { name: 'user', path: places.user },
    ...(places.project === null ? [] : [{ name: 'project' as const, path: places.project }]),
  ];
}

async function readLayer(
  deps: Deps,
  sources: Pick<LayerSources, 'isTrusted'>,
  o: { readonly place: Place; readonly needed: boolean; readonly warnings: string[] },
): Promise<Layer | null> {
  const { place, needed, warnings } = o;
  const { name, path, shown = path } = place;
  const bytes = await readPolicy(deps, path, { shown, needed, mayLink: name !== 'project' });
  if (bytes === null) return null;
  const outcome = parsePolicy(bytes, checkPolicy);
  if (outcome.kind === 'problems') throw problemsError('control/policy', shown, outcome.problems);
  warnings.push(
    ...outcome.warnings.map((one) => `${path}:${one.line}:${one.column}: ${one.message}`),
  );
  const hash = deps.sha256(bytes);
  const trusted = name !== 'project' || sources.isTrusted(hash);
  return { name, origin: path, file: outcome.policy, trusted, hash };
}

async function readPolicy(
  { files }: Deps,
  path: string,
  o: { readonly shown: string; readonly needed: boolean; readonly mayLink: boolean },
): Promise<Uint8Array | null> {
  const { shown } = o;
  try {
    // A link in a repository leads wherever its author likes.
    if (!o.mayLink && (await files.stat(path))?.kind === 'link')
      throw unusable(shown, 'it is a link');
    return await files.readFile(path, POLICY_BYTES_MAX);
  } catch (error) {
    if (isTroupeError(error)) throw error;
    const code = systemCode(error);
    if (!o.needed && (code === 'ENOENT' || code === 'ENOTDIR')) return null;
    throw unusable(shown, whyNot(code, POLICY_BYTES_MAX), error);
  }
}

function unusable(shown: string, why: string, cause?: unknown): TroupeError {
  return new TroupeError({
    code: 'control/policy',
    message: `${shown}: ${why}`,
    hint: 'Without a policy that can be read nothing is decided.',
    exit: EXIT.usage,
    ...(cause === undefined ? {} : { cause }),
  });
}

function asPolicyError(error: unknown, { path, shown }: Place): TroupeError {
  return isTroupeError(error) ? error : unusable(shown ?? path, systemCode(error), error);
}

/** Who may write the folder may put a file of root's there under another name. */
function requireOwned({ admin, ownedByAdmin }: PolicyPlaces, path: string): void {
  for (const one of [admin, path]) {
    if (ownedByAdmin(one)) continue;
    throw new TroupeError({
      code: 'control/policy',
      message: `${one} belongs to the administrator's policy, but others than root may write it`,
      hint: `sudo chown root:root ${one} && sudo chmod go-w ${one}`,
      exit: EXIT.usage,
    });
  }
}

function pinsOf({ file }: Layer): readonly string[] {
  const profiles = Object.values(file.profiles).flatMap((profile) => profile.rules);
  return [...file.rules, ...profiles].flatMap((rule) => rule.pins ?? []);
}

const REVISION_CHARS = 12;

/** The same name for the same layers, in every run and after a restart: answers bind to it. */
function revisionOf(
  { sha256 }: Deps,
  layers: readonly Layer[],
  pins: PolicySnapshot['pins'],
): string {
  const parts = layers.map(({ name, origin, hash, trusted, problem, file }) => [
    name,
    origin,
    hash ?? sha256(JSON.stringify(file)),
    trusted,
    problem ?? null,
  ]);
  return sha256(JSON.stringify([parts, pins])).slice(0, REVISION_CHARS);
}
