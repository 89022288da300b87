/** `sandbox`, in team files and in the config: a mode, or a mode with what is opened besides. */
import * as z from 'zod';
import type { SandboxSettings } from '../protocol/team.ts';
import { SANDBOX_FOLDERS_MAX } from './limits.ts';
import { object } from './schema.ts';

type Mode = SandboxSettings['mode'];

export type RawSandbox =
  | Mode
  | {
      readonly mode?: Mode | undefined;
      readonly read?: readonly string[] | undefined;
      readonly write?: readonly string[] | undefined;
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

export const sandbox: z.ZodType<RawSandbox> = z.union([
  mode,
  object({ mode: mode.optional(), read: folders, write: folders }),
]);

/** Folders of both are opened; the mode is the nearer one, but who requires a sandbox anywhere gets one. */
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
  };
}

/** The config in a repository is not the person's word: it may ask for a sandbox, and open nothing. */
export function loosens(raw: RawSandbox | undefined): boolean {
  if (raw === undefined || typeof raw === 'string') return raw === 'off';
  return raw.mode === 'off' || [...(raw.read ?? []), ...(raw.write ?? [])].length > 0;
}
