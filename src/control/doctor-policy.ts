/**
 * The files that decide what agents may do, and what agents are told from memory, looked at before anything rests on them:
 * each one that can't be used is named with its place and with what follows from that.
 */
import { isTroupeError, systemCode } from '../kernel/errors.ts';
import { FILE_BYTES_MAX } from '../memory/index.ts';
import type { ControlDeps } from './deps.ts';
import type { Finding } from './finding.ts';
import { readSmall } from './folders.ts';
import { type LayerState, layerStates, loadLayers, policyPlaces } from './policy-layers.ts';
import type { SettingsPlaces } from './settings.ts';
import { readTrust } from './trust-book.ts';

const NOT_TRUSTED = 'its deny and ask rules count, what it allows does not before `troupe trust`';

/** Throws `control/policy` (exit 2) for the first file that can't be used: without it nothing is decided. Notes for people. */
export async function requirePolicy(deps: ControlDeps, places: SettingsPlaces): Promise<string[]> {
  const { snapshot, warnings } = await loadLayers(deps, {
    named: null,
    places: policyPlacesOf(deps, places),
    isTrusted: await trustIn(deps, places),
    team: null,
    pinned: () => Promise.resolve({}),
  });
  const untrusted = snapshot.layers.filter(({ trusted }) => !trusted);
  return [...warnings, ...untrusted.map(({ origin }) => `${origin}: ${NOT_TRUSTED}`)];
}

/** One finding or more for each layer; never throws for what files contain. */
export async function examinePolicies(
  deps: ControlDeps,
  places: SettingsPlaces,
): Promise<Finding[]> {
  const states = await layerStates(deps, policyPlacesOf(deps, places), await trustIn(deps, places));
  return states.flatMap(findingsOf);
}

const check = 'policy';

function findingsOf({ name, path, layer, error, warnings }: LayerState): Finding[] {
  if (error !== null) {
    const repair = `Nothing starts before this is put right; a run that goes on keeps what the file said last, and allows nothing by it. ${error.hint ?? ''}`;
    return error.message
      .split('\n')
      .map((detail) => ({ check, ok: false, detail, repair: repair.trim() }));
  }
  if (layer === null) return [{ check, ok: true, detail: `${path}: there is none`, repair: '' }];
  const profiles = Object.values(layer.file.profiles).flatMap(({ rules }) => rules);
  const rules = layer.file.rules.length + profiles.length;
  const words = `${path}: read (${LAYERS[name] ?? name}, ${rules === 1 ? '1 rule' : `${rules} rules`})`;
  return [
    layer.trusted
      ? { check, ok: true, detail: words, repair: '' }
      : { check, ok: true, detail: `${words}, not trusted: ${NOT_TRUSTED}`, repair: '' },
    ...warnings.map((detail) => ({ check, ok: true, detail, repair: '' })),
  ];
}

const LAYERS: Readonly<Record<string, string>> = {
  admin: 'administrator',
  user: 'yours',
  project: 'the repository’s',
};

/** What people wrote for agents to remember, and is not told to them. */
export async function examineMemory(
  { files }: ControlDeps,
  { workspace, userConfig }: SettingsPlaces,
): Promise<Finding[]> {
  const own = workspace === null ? [] : [`${workspace}/.troupe/memory/MEMORY.md`];
  const findings: Finding[] = [];
  for (const path of [`${userConfig}/memory/MEMORY.md`, ...own]) {
    if ((await files.stat(path).catch(() => null)) === null) continue;
    const read = await readSmall(files, path, { links: false, max: FILE_BYTES_MAX });
    if (typeof read !== 'string') continue;
    const repair =
      'Make it a small file of its own: a link, or what is no file, is never followed.';
    findings.push({ check: 'memory', ok: false, detail: `${path}: ${read}: not told`, repair });
  }
  return findings;
}

/** Whether the state can be written: a disk that is full or read-only fails every run. */
export async function examineRoom({ files, random }: ControlDeps, state: string): Promise<Finding> {
  const path = `${state}/probe-${random.id(8)}`;
  try {
    if ((await files.stat(state)) === null) {
      return { check: 'state folder', ok: true, detail: `${state}: not made yet`, repair: '' };
    }
    const handle = await files.open(path, 'create');
    try {
      const bytes = new Uint8Array(PROBE_BYTES);
      for (let done = 0; done < bytes.length; ) done += handle.write(bytes.subarray(done));
      await handle.datasync();
    } finally {
      await handle.close();
    }
    return { check: 'state folder', ok: true, detail: `${state}: it can be written`, repair: '' };
  } catch (error) {
    const code = isTroupeError(error) ? error.code : systemCode(error);
    if (code === '') throw error;
    const known = ROOM[code];
    return {
      check: 'state folder',
      ok: false,
      detail: `${state}: ${known?.why ?? `it can not be written (${code})`}; no run starts or goes on`,
      repair: known?.repair ?? 'Make the folder writable for you.',
    };
  } finally {
    await files.remove(path).catch(() => undefined);
  }
}

const PROBE_BYTES = 64 * 1024;

const ROOM: Readonly<Record<string, { readonly why: string; readonly repair: string }>> = {
  ENOSPC: { why: 'the disk is full', repair: 'Make room: see docs/storage.md.' },
  EDQUOT: { why: 'your quota of the disk is used up', repair: 'Make room: see docs/storage.md.' },
  EROFS: { why: 'it lies on a read-only file system', repair: 'Mount it writable.' },
  EACCES: { why: 'you may not write there', repair: 'Make the folder writable for you.' },
  EPERM: { why: 'you may not write there', repair: 'Make the folder writable for you.' },
};

function policyPlacesOf(deps: ControlDeps, { workspace, userConfig }: SettingsPlaces) {
  const ownedByAdmin = deps.ownedByAdmin ?? (() => true);
  return policyPlaces({ userConfig, root: workspace, ownedByAdmin });
}

async function trustIn(
  deps: ControlDeps,
  { state }: SettingsPlaces,
): Promise<(hash: string) => boolean> {
  return state === undefined ? () => false : (await readTrust(deps, { state })).isTrusted;
}
