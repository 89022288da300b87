/** `sandbox`, in team files and in the config: a mode, or a mode with what is opened besides. */
import * as z from 'zod';
import { type HostRule, hostRule, isHostWithin } from '../kernel/hosts.ts';
import type { SandboxSettings } from '../protocol/team.ts';
import { SANDBOX_FOLDERS_MAX, SANDBOX_HOSTS_MAX } from './limits.ts';
import { object } from './schema.ts';

type Mode = SandboxSettings['mode'];

export type RawSandbox =
  | Mode
  | {
      readonly mode?: Mode | undefined;
      readonly read?: readonly string[] | undefined;
      readonly write?: readonly string[] | undefined;
      readonly network?: { readonly allow: readonly string[] } | undefined;
    };

const mode = z.enum(['auto', 'required', 'off']);
/** A folder below the home, or an absolute one; never a home or the root itself, which the sandbox would be without. */
const folder = z
  .string()
  .regex(
    /^(?:~\/|\/)(?!(?:.*\/)?\.\.?(?:\/|$))(?:[^/\0]+\/?)+$/,
    'expected a folder as ~/… or absolute, without . and ..',
  );
const folders = z.array(folder).max(SANDBOX_FOLDERS_MAX).optional();

const host = z.string().refine((text) => hostRule(text) !== null, {
  message: 'expected a host: example.com, *.example.com, example.com:8443 or an address',
});
const network = object({ allow: z.array(host).max(SANDBOX_HOSTS_MAX) }).optional();

export const sandbox: z.ZodType<RawSandbox> = z.union([
  mode,
  object({ mode: mode.optional(), read: folders, write: folders, network }),
]);

/** Folders and hosts of both are opened; the mode is the nearer one, but who requires a sandbox anywhere gets one. */
export function resolveSandbox(
  raw: RawSandbox | undefined,
  under: SandboxSettings = { mode: 'auto', read: [], write: [] },
): SandboxSettings {
  if (raw === undefined) return under;
  const own = typeof raw === 'string' ? { mode: raw } : raw;
  return {
    mode: under.mode === 'required' ? 'required' : (own.mode ?? under.mode),
    read: [...new Set([...under.read, ...(own.read ?? [])])],
    write: [...new Set([...under.write, ...(own.write ?? [])])],
    ...networkOf(under.network, own.network?.allow ?? [], under.network?.within),
  };
}

/** What the config in a repository leaves of the person's: it may ask for a sandbox and name hosts beyond which nobody gets. */
export function narrowSandbox(
  raw: RawSandbox | undefined,
  person: SandboxSettings,
): SandboxSettings {
  const within = raw === undefined || typeof raw === 'string' ? undefined : raw.network?.allow;
  const { network: given, ...rest } = resolveSandbox(raw, person);
  if (within === undefined) return given === undefined ? rest : { ...rest, network: given };
  return { ...rest, ...networkOf(person.network, [], within) };
}

function networkOf(
  under: SandboxSettings['network'],
  more: readonly string[],
  within: readonly string[] | undefined,
): Pick<SandboxSettings, 'network'> {
  const all = [...new Set([...(under?.allow ?? []), ...more])];
  if (within === undefined) return all.length === 0 ? {} : { network: { allow: all } };
  const bounds = rulesOf(within);
  const isKept = (text: string): boolean =>
    rulesOf([text]).some((one) => bounds.some((bound) => isHostWithin(one, bound)));
  return { network: { allow: all.filter(isKept), within } };
}

function rulesOf(texts: readonly string[]): HostRule[] {
  return texts.flatMap((text) => hostRule(text) ?? []);
}

/** The config in a repository is not the person's word: it may ask for a sandbox, and open nothing. */
export function loosens(raw: RawSandbox | undefined): boolean {
  if (raw === undefined || typeof raw === 'string') return raw === 'off';
  return raw.mode === 'off' || [...(raw.read ?? []), ...(raw.write ?? [])].length > 0;
}
