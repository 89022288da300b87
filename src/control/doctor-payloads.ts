/** The doctor's look at payloads that records hold by reference (M8): each one that is wrong, with who needs it. */
import { readJournal } from '../journal/index.ts';
import { isTroupeError, systemCode } from '../kernel/errors.ts';
import { fine, type Look } from './doctor-mend.ts';
import { listFolder } from './files.ts';
import { blobsOf } from './payloads.ts';
import { blobsFolder, journalFolder } from './places.ts';
import type { Workspace } from './workspace.ts';

/** Named by at most so many of the records that need it. */
const NEEDED_BY_MAX = 3;

/**
 * None when the run has no payloads. `whole`: of its journal no record is lost, so that what none names is needed by none.
 * Rejects only for errors of the file system.
 */
export async function examinePayloads(
  workspace: Workspace,
  { run, whole }: { readonly run: string; readonly whole: boolean },
): Promise<Look[]> {
  const { files } = workspace.deps;
  const check = `payloads of ${run}`;
  const needed = await neededBy(workspace, run);
  const blobs = blobsOf(workspace, run);
  const findings: Look[] = [];
  for (const [blob, places] of needed) {
    try {
      await blobs.get(blob);
    } catch (error) {
      if (!isTroupeError(error) && systemCode(error) === '') throw error;
      const why = isTroupeError(error) ? error.message : `${blob} cannot be read: ${String(error)}`;
      const who = places.slice(0, NEEDED_BY_MAX).join(', ');
      const more =
        places.length > NEEDED_BY_MAX ? ` and ${places.length - NEEDED_BY_MAX} more` : '';
      const detail = `${why.replace(/\.$/, '')}; needed by ${who}${more}`;
      findings.push({ check, ok: false, detail, repair: LOST });
    }
  }
  const there = await listFolder(files, blobsFolder(workspace.places, run));
  const orphans = there.filter((name) => !needed.has(name));
  if (orphans.length > 0) {
    const look = fine(check, `named by no record: ${orphans.join(', ')}`, ORPHANS);
    const act = async (): Promise<string> => {
      const folder = blobsFolder(workspace.places, run);
      for (const name of orphans) await files.remove(`${folder}/${name}`);
      return 'removed';
    };
    findings.push(whole ? { ...look, mend: { will: 'remove them', act } } : look);
  }
  if (findings.every(({ ok }) => ok) && needed.size > 0) {
    findings.unshift({
      check,
      ok: true,
      detail: needed.size === 1 ? '1 payload, whole' : `${needed.size} payloads, all whole`,
      repair: '',
    });
  }
  return findings;
}

const LOST =
  'Put a copy of the file in its place, if you have one. Without it its beginning is in the record, and whoever reads it is told.';
const ORPHANS =
  'Nothing was promised of them: a crash came before their record, or a run is at work.';

/** Payloads by name, with the places of the records that name them. */
async function neededBy(workspace: Workspace, run: string): Promise<Map<string, string[]>> {
  const { files } = workspace.deps;
  const directory = journalFolder(workspace.places, run);
  const needed = new Map<string, string[]>();
  if ((await files.stat(directory)) === null) return needed;
  for await (const record of readJournal({ files, directory, onGap: () => undefined })) {
    forEachRef(record, '', (blob, what) => {
      const places = needed.get(blob) ?? [];
      places.push(`record ${record.s}${what}`);
      needed.set(blob, places);
    });
  }
  return needed;
}

/** `what`: the letter, call or ask that it belongs to. */
function forEachRef(
  value: unknown,
  what: string,
  found: (blob: string, what: string) => void,
): void {
  if (typeof value !== 'object' || value === null) return;
  const part = value as Readonly<Record<string, unknown>>;
  const named = nameOf(part) ?? what;
  if (typeof part['blob'] === 'string' && typeof part['bytes'] === 'number') {
    found(part['blob'], named);
  }
  for (const inner of Object.values(part)) forEachRef(inner, named, found);
}

function nameOf(part: Readonly<Record<string, unknown>>): string | null {
  const { id, to, from, call, actor, tool, at, blob } = part;
  if (typeof blob === 'string' && typeof at === 'string') return ` (${at})`;
  if (typeof id === 'string' && typeof from === 'string') {
    return ` (letter ${id} of ${from}${typeof to === 'string' ? ` to ${to}` : ''})`;
  }
  if (typeof call === 'string' && typeof tool === 'string') {
    return ` (call ${call}, ${tool}${typeof actor === 'string' ? ` of ${actor}` : ''})`;
  }
  return typeof id === 'string' && part['type'] === 'call' ? ` (call ${id})` : null;
}
