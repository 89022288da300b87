/** The doctor on a run as its journal tells it: view files, leases, mail. */
import { counted } from '../kernel/counted.ts';
import { deadLetters } from '../mailbox/index.ts';
import { differingViews, makeViewsAnew } from '../supervisor/index.ts';
import { fine, type Look, wrong } from './doctor-mend.ts';
import { runFolder } from './places.ts';
import type { RunView } from './queries.ts';
import type { Workspace } from './workspace.ts';

/** Files for people and `tail -f`, which nothing reads back. */
export async function lookAtViews(workspace: Workspace, view: RunView): Promise<Look[]> {
  const { files, clock } = workspace.deps;
  const { run, file, liveness } = view;
  const check = `views of ${run}`;
  if (liveness.alive) return [fine(check, 'its supervisor writes them')];
  const place = { files, folder: runFolder(workspace.places, run) };
  const differing = await differingViews(place, file);
  if (differing.length === 0) return [fine(check, 'as the journal says')];
  const shown = differing.slice(0, SHOWN).join(', ');
  const more = differing.length > SHOWN ? ` and ${differing.length - SHOWN} more` : '';
  const act = async (): Promise<string> => {
    const failures: string[] = [];
    const logger = {
      log: (_level: string, message: string, data?: object) => {
        failures.push(`${message} ${JSON.stringify(data ?? {})}`);
      },
    };
    await makeViewsAnew({ ...place, clock, logger }, file);
    if (failures.length > 0) throw new Error(failures.join('; '));
    return 'made anew';
  };
  const detail = `missing, or not what the journal says: ${shown}${more}`;
  return [{ ...wrong(check, detail, ''), mend: { will: 'make them anew from the journal', act } }];
}

const SHOWN = 5;

/** Claims with their leases: a task is held by somebody who lives, or goes back when the run goes on. */
export function lookAtLeases({ state, run, liveness }: RunView): Look[] {
  const check = `leases of ${run}`;
  if (state.claims.size === 0) return [];
  const held = [...state.claims].map(([actor, task]) => `${task} by ${actor}`).join(', ');
  if (state.run.ended !== null) {
    return [
      wrong(
        check,
        `the run has ended, and still held: ${held}`,
        'This is a bug of Troupe: please report it.',
      ),
    ];
  }
  if (liveness.alive) return [fine(check, `held: ${held}`)];
  return [
    fine(
      check,
      `held when its supervisor ended: ${held}`,
      `\`troupe resume ${run}\` goes on with them, or gives them out again.`,
    ),
  ];
}

export function lookAtMail({ state, run }: RunView): Look[] {
  const check = `mail of ${run}`;
  const dead = deadLetters(state.mail);
  const boxes = [...state.mail.boxes.values()];
  const sent = boxes.reduce((sum, { last }) => sum + last, 0);
  if (dead.length === 0)
    return sent === 0 ? [] : [fine(check, `${counted(sent, 'letter')}, none is dead`)];
  const detail = `${counted(sent, 'letter')}, of which ${dead.length} could not be delivered`;
  return [
    fine(check, detail, `\`troupe mail dead --run ${run}\` says why, retries and drops them.`),
  ];
}
