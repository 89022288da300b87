/** Mail from the user: live when a supervisor holds the run, else spooled. */
import type { SendParams, SendResult } from '../protocol/wire.ts';
import { errors } from './errors.ts';
import { actorNames } from './mail.ts';
import { viewRun } from './queries.ts';
import { type Spooled, spoolMail } from './spool.ts';
import type { Workspace } from './workspace.ts';

/** Every member; who that is, the supervisor knows when it delivers. */
const EVERYBODY = 'all';
const UNREAD: ReadonlySet<string> = new Set(['user', 'supervisor', 'broker', 'system']);

export type Sent = SendResult | Spooled;

/** `deliver` gives null when no supervisor can be reached. Nothing is sent twice: what was not delivered is spooled. */
export async function sendMail(
  workspace: Workspace,
  mail: SendParams,
  deliver: (params: SendParams) => Promise<SendResult | null>,
): Promise<Sent> {
  const view = await viewRun(workspace, mail.run, 'send');
  const known = actorNames(view);
  if (UNREAD.has(mail.to)) throw errors.noReader(mail.to);
  if (mail.to !== EVERYBODY && !known.includes(mail.to)) {
    throw errors.unknownActor(mail.to, known);
  }
  if (view.liveness.alive) {
    const sent = await deliver({ ...mail, run: view.run });
    if (sent !== null) return sent;
    if ((await workspace.deps.live.holder(workspace.places)) !== null) throw errors.silent();
  }
  return spoolMail(workspace, view, mail);
}
