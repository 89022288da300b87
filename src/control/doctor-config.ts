/**
 * The doctor on what people set: the files, each setting with its value and where it is from, and never a key. What is
 * wrong with one file is a finding and hides nothing of the others.
 */
import {
  type ConfigSource,
  type ConfigSources,
  hooksOf,
  type ModelSettings,
  PRICES_DATE,
  type ProviderSettings,
  passedOver,
  priceEntry,
  type ResolvedConfig,
  resolveConfig,
  type Setting,
  WINDOWS_DATE,
  windowEntry,
} from '../config/index.ts';
import { isTroupeError } from '../kernel/errors.ts';
import { checkModel } from '../providers/index.ts';
import type { ControlDeps } from './deps.ts';
import type { Finding } from './finding.ts';
import { readProfiles } from './profiles.ts';
import { type ReadSources, readSources, type SettingsPlaces } from './settings.ts';
import { readSkills } from './skills.ts';
import { readTrust } from './trust-book.ts';

const WITHOUT = 'Nothing starts before this is put right. What is said of settings is without it.';

export async function examineConfig(
  deps: ControlDeps,
  places: SettingsPlaces,
): Promise<readonly Finding[]> {
  const read = await readSources(deps, places);
  const findings = [...fileFindings(read, places)];
  const { config, problems } = resolveWhatCan(read.sources);
  findings.push(...problems);
  if (config !== null) {
    findings.push(
      ...settingFindings(config),
      ...providerFindings(config, read.sources),
      ...tableFindings(config),
    );
    findings.push(...(await hookFindings(deps, places, read.sources)));
    findings.push(...(await profileFindings(deps, places, config.models)));
  }
  return findings;
}

const good = (check: string, detail: string): Finding => ({ check, ok: true, detail, repair: '' });

function fileFindings(
  { sources, broken, envFile }: ReadSources,
  { workspace, userConfig }: SettingsPlaces,
): Finding[] {
  const findings = broken.flatMap(({ message }) =>
    message
      .split('\n')
      .map((line): Finding => ({ check: 'config file', ok: false, detail: line, repair: WITHOUT })),
  );
  const told = (path: string): boolean =>
    findings.some(({ detail }) => detail.startsWith(`${path}:`));
  const files = [
    [workspace === null ? null : `${workspace}/.troupe/config.yaml`, sources.workspaceFile],
    [`${userConfig}/config.yaml`, sources.userFile],
  ] as const;
  for (const [path, file] of files) {
    if (path === null || told(path)) continue;
    findings.push(good('config file', `${path}: ${file === undefined ? 'there is none' : 'read'}`));
  }
  if (workspace === null || envFile === 'missing') return findings;
  const path = `${workspace}/.env`;
  findings.push(good('.env', `${path}: ${envFile}`));
  const odd = sources.envFile?.odd ?? [];
  if (odd.length > 0) {
    const more = odd.length > ODD_SHOWN ? ` and ${odd.length - ODD_SHOWN} more` : '';
    const lines = `${odd.length === 1 ? 'line' : 'lines'} ${odd.slice(0, ODD_SHOWN).join(', ')}${more}`;
    findings.push({
      ...good('.env', `${path}: ${lines}: no NAME=value, so nothing is taken from there`),
      repair: 'Write NAME=value, or # before what is a note.',
    });
  }
  for (const { name, line } of sources.envFile === undefined ? [] : passedOver(sources.envFile)) {
    findings.push({
      ...good('.env', `${path}:${line}: ${name} is not taken from here`),
      repair: 'From .env come keys, addresses and models: see docs/configuration.md. Export it.',
    });
  }
  return findings;
}

/** Of lines that say nothing. */
const ODD_SHOWN = 5;

/** A variable that can't be used is told and left out, until the rest can be read. */
function resolveWhatCan(sources: ConfigSources): {
  readonly config: ResolvedConfig | null;
  readonly problems: readonly Finding[];
} {
  const problems: Finding[] = [];
  const env = { ...sources.env };
  const entries = { ...sources.envFile?.entries };
  const count = Object.keys(env).length + Object.keys(entries).length;
  for (let left = count; left >= 0; left -= 1) {
    const envFile = sources.envFile === undefined ? undefined : { ...sources.envFile, entries };
    const outcome = resolveConfig({ ...sources, env, envFile });
    if (outcome.kind === 'ok') return { config: outcome.config, problems };
    const { file, variable, message } = outcome;
    const place = file === null ? variable : `${file.path}:${file.line}: ${variable}`;
    const check = file === null ? 'environment' : '.env';
    problems.push({ check, ok: false, detail: `${place}: ${message}`, repair: WITHOUT });
    Reflect.deleteProperty(file === null ? env : entries, variable);
  }
  return { config: null, problems };
}

function from(origin: string): string {
  return origin === 'default' ? 'built in' : `from ${origin}`;
}

function settingFindings(config: ResolvedConfig): Finding[] {
  const { limits, models } = config;
  const row = <T>(name: string, { value, origin }: Setting<T>, shown: string): Finding =>
    good(`setting ${name}`, `${shown === '' ? String(value) : shown} (${from(origin)})`);
  const { model, fallback } = config;
  const sandbox = config.sandbox.value;
  const opened = [
    ...sandbox.read.map((folder) => `reads ${folder}`),
    ...sandbox.write.map((folder) => `writes ${folder}`),
    ...(sandbox.network?.allow ?? []).map((host) => `agents reach ${host}`),
  ];
  return [
    checked(row('model', model, model.value ?? 'none'), model.value, models),
    ...(fallback.value.length === 0 ? [row('fallback', fallback, 'none')] : []),
    ...fallback.value.map((one) => checked(row('fallback', fallback, one), one, models)),
    row('limits.parallel', limits.parallel, ''),
    row('limits.turns', limits.turns, ''),
    row('limits.depth', limits.depth, ''),
    row('limits.fanout', limits.fanout, ''),
    row('trees', config.treesRoot, config.treesRoot.value ?? 'the usual place: `troupe where`'),
    row('log', config.log, ''),
    row('sandbox', config.sandbox, [sandbox.mode, ...opened].join(', ')),
    row('compact_at', config.compactAt, ''),
  ];
}

/** A model that was chosen and can't be had is something to put right. */
function checked(finding: Finding, model: string | null, models: ModelSettings): Finding {
  if (model === null || model.startsWith('scripted/')) return finding;
  const problem = checkModel(model, models);
  if (problem === null) return finding;
  return {
    ...finding,
    ok: false,
    detail: `${finding.detail}: ${problem.message}`,
    repair: problem.hint,
  };
}

function providerFindings(config: ResolvedConfig, sources: ConfigSources): Finding[] {
  return Object.values(config.models.providers).map((provider) => {
    const { name, baseUrl, baseUrlOrigin, blocked } = provider;
    const parts = [`${baseUrl} (${from(baseUrlOrigin)})`, keyText(provider)];
    const detail = [...parts, ...optionTexts(name, sources)].join('; ');
    if (blocked === null) return good(`provider ${name}`, detail);
    const repair = 'Say it in your own config, or in variables of your environment.';
    return {
      check: `provider ${name}`,
      ok: false,
      detail: `${detail}; not used: ${blocked}`,
      repair,
    };
  });
}

function keyText({ keyOrigin, keyNeeded, keyVariables }: ProviderSettings): string {
  if (keyOrigin !== null) return `key set (from ${keyOrigin})`;
  return keyNeeded ? `no key (${keyVariables.toReversed().join(' or ')})` : 'no key, none needed';
}

/** What else the files say of a provider. Headers by name: their values may be secret. */
function optionTexts(name: string, { workspaceFile, userFile }: ConfigSources): string[] {
  const texts = new Map<string, string>();
  for (const file of [workspaceFile, userFile]) {
    const all = file?.config.providers ?? {};
    const raw = Object.hasOwn(all, name) ? all[name] : undefined;
    for (const [key, value] of Object.entries(raw ?? {})) {
      if (['base_url', 'api_key', 'api_key_env'].includes(key) || texts.has(key)) continue;
      const shown = typeof value === 'object' ? Object.keys(value).join(', ') : String(value);
      const line = file?.placeOf?.(['providers', name, key]).line;
      texts.set(key, `${key} ${shown} (from ${file?.path}${line === undefined ? '' : `:${line}`})`);
    }
  }
  return [...texts.values()];
}

/** Windows and prices: of the models that are named here, and what the files say of others. */
function tableFindings({ model, fallback, models, windows, prices }: ResolvedConfig): Finding[] {
  const both = [model.value ?? '', ...fallback.value].filter(
    (one) => one !== '' && !one.startsWith('scripted/'),
  );
  const originOf = (key: string | null, own: Readonly<Record<string, Setting<unknown>>>): string =>
    key === null ? '' : from(own[key]?.origin ?? 'default');
  const windowRows = [...new Set([...both, ...Object.keys(windows)])].map((ref) => {
    const { tokens, key, listed } = windowEntry(models.windows, ref);
    const table = listed ? `built in, as of ${WINDOWS_DATE}` : 'assumed: nobody said';
    return good(`window of ${ref}`, `${tokens} tokens (${originOf(key, windows) || table})`);
  });
  const priceRows = [...new Set([...both, ...Object.keys(prices)])].map((ref) => {
    const entry = priceEntry(models.prices, ref);
    if (entry === null) {
      return {
        ...good(`price of ${ref}`, 'not known: sums are marked as estimated'),
        repair: `For a budget in dollars: prices: { "${ref}": { input: 2, output: 10 } }.`,
      };
    }
    const { input, output, cacheRead, cacheWrite } = entry.price;
    const where = originOf(entry.key, prices) || `built in, as of ${PRICES_DATE}`;
    const detail = `${input} in, ${output} out, ${cacheRead} and ${cacheWrite} cached, dollars per million tokens (${where})`;
    return good(`price of ${ref}`, detail);
  });
  return [...windowRows, ...priceRows];
}

/** Those of the repository count when a person has trusted the file as it is. */
async function hookFindings(
  deps: ControlDeps,
  { state }: SettingsPlaces,
  { workspaceFile, userFile }: ConfigSources,
): Promise<Finding[]> {
  const rows = (file: ConfigSource | undefined, prefix: 'user' | 'repo', off: string): Finding[] =>
    hooksOf(file?.config ?? {}, { prefix, origin: '' }).map(({ id, on, run }, index) => {
      const line = file?.placeOf?.(['hooks', index]).line;
      const place = `${file?.path}${line === undefined ? '' : `:${line}`}`;
      return good(`hook ${id}`, `${on}: ${run} (from ${place})${off}`);
    });
  if ((workspaceFile?.config.hooks ?? []).length === 0) return rows(userFile, 'user', '');
  const bytes = workspaceFile === undefined ? null : await deps.files.readFile(workspaceFile.path);
  const book = state === undefined ? null : await readTrust(deps, { state });
  const isTrusted = bytes !== null && book?.isTrusted(deps.sha256(bytes)) === true;
  const off = isTrusted ? '' : ': not in use before `troupe trust`';
  return [...rows(userFile, 'user', ''), ...rows(workspaceFile, 'repo', off)];
}

async function profileFindings(
  deps: ControlDeps,
  places: SettingsPlaces,
  models: ModelSettings,
): Promise<Finding[]> {
  try {
    const known = await readSkills(deps, places);
    const found = await readProfiles(deps, places, { models, known });
    return Object.entries(found.origins).map(([name, origin]) => {
      const finding = good(`profile ${name}`, `from ${origin}`);
      const { model, fallback = [] } = found.profiles[name] ?? { model: null };
      const refs = [model ?? [], fallback].flat().filter((ref) => !ref.startsWith('scripted/'));
      const problem = refs.map((ref) => checkModel(ref, models)).find((one) => one !== null);
      if (problem === null || problem === undefined) return finding;
      // Only a team that needs this profile can't be run.
      const detail = `${finding.detail}; can't be used now: ${problem.message}`;
      return { ...finding, detail, repair: problem.hint };
    });
  } catch (error) {
    if (!isTroupeError(error)) throw error;
    return error.message
      .split('\n')
      .map((line) => ({ check: 'profile', ok: false, detail: line, repair: WITHOUT }));
  }
}
