/**
 * Mail that waits for a supervisor: one file an envelope in `spool/`, which the supervisor takes in when it resumes the
 * run. The name is the envelope's id and `.json`, so that taking it in twice has no second effect.
 */
import { mintId } from '../kernel/ids.ts';
import { errors } from './errors.ts';
import { writeWhole } from './files.ts';
import type { RunView } from './queries.ts';
import type { Workspace } from './workspace.ts';

export interface SpoolFile {
  readonly run: string;
  readonly to: string;
  readonly lane: 'normal' | 'interrupt';
  readonly text: string;
}

export interface Spooled {
  readonly run: string;
  readonly id: string;
  readonly to: string;
  readonly state: 'spooled';
}

/** Durable when it resolves. The receiver was looked up before. Throws `control/run-ended`. */
export async function spoolMail(
  workspace: Workspace,
  view: RunView,
  mail: { readonly to: string; readonly text: string; readonly interrupt: boolean },
): Promise<Spooled> {
  const { ended } = view.state.run;
  if (ended !== null) throw errors.endedForMail(view.run, ended.state);
  const { files } = workspace.deps;
  const { spool, state } = workspace.places;
  await files.makeDirectory(spool);
  await files.syncDirectory(state);
  const id = mintId('env', workspace.deps);
  const content: SpoolFile = {
    run: view.run,
    to: mail.to,
    lane: mail.interrupt ? 'interrupt' : 'normal',
    text: mail.text,
  };
  const temporary = `${spool}/.${id}.tmp`;
  await writeWhole(files, `${spool}/${id}.json`, {
    text: `${JSON.stringify(content)}\n`,
    temporary,
  });
  return { run: view.run, id, to: mail.to, state: 'spooled' };
}
