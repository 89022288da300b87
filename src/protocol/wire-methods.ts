/**
 * Every method of the wire: what it is for, who may call it, and whether it changes anything. Without zod, so that clients
 * can read it too; parameters and results have their schemas in `wire.ts` and `wire-results.ts`, by the same names.
 *
 * Invariants
 * - I3 A method is called only by the roles that stand here; what does not stand here is nobody's.
 * - I4 An actor's token reaches only its own run and its own mail, transcript and events (`bound`).
 */
import type { MethodName, Role } from './wire.ts';

/** Notification of a client: nobody waits for the answer to this request any more. */
export const CANCEL = '$/cancel';

export interface MethodInfo {
  /** One line for people. */
  readonly about: string;
  readonly roles: readonly Role[];
  /** `read`: may be asked again after a broken connection, and is given up when it is cancelled. */
  readonly effect: 'read' | 'change';
  /** For an actor's token: which parameter is its own name, besides `run`, which is always its own run. */
  readonly bound?: 'actor' | 'actors' | 'run';
}

const ALL: readonly Role[] = ['person', 'viewer', 'actor'];
const READERS: readonly Role[] = ['person', 'viewer'];
const PERSON: readonly Role[] = ['person'];

const read = (about: string, roles: readonly Role[] = READERS): MethodInfo => ({
  about,
  roles,
  effect: 'read',
});
const own = (about: string, bound: NonNullable<MethodInfo['bound']>): MethodInfo => ({
  ...read(about, ALL),
  bound,
});
const change = (about: string): MethodInfo => ({ about, roles: PERSON, effect: 'change' });

export const METHOD_INFO: { readonly [M in MethodName]: MethodInfo } = {
  hello: read('Who calls, with which token and protocol; the first request of a connection.', ALL),
  status: read('The supervisor, the runs that it holds and their actors.'),
  'runs.list': read('All runs, newest first.'),
  'tasks.list': own('The tasks of a run and why each waits.', 'run'),
  'tasks.get': own('All that is known of one task.', 'run'),
  'actors.list': own('The actors of a run and what each is doing.', 'run'),
  'usage.get': read('What a run has cost, by actor, task and model.'),
  'session.get': own('The transcript of an actor, a page at a time.', 'actor'),
  'mail.list': own('Mail of a run in the order of its recording, a page at a time.', 'actors'),
  'mail.dead': read('Mail that could not be delivered, with the reason.'),
  'mail.send': change('Mail from the user to an actor, or to `all`; durable when it is answered.'),
  'mail.settle': change('Delivers a dead letter again, or drops it.'),
  'events.list': read('Durable events of a run after a cursor, a page at a time.'),
  'events.subscribe': own('Events as they happen, after those since a cursor.', 'actors'),
  'events.unsubscribe': read('Ends a subscription of this connection.', ALL),
  'plans.list': own('The plans of a run and what became of each.', 'run'),
  'plans.decide': change('A person’s word on a plan.'),
  'approvals.list': read('What agents ask a person for.'),
  'approvals.answer': change('Allows or denies what an agent asks for; bound to its digest.'),
  'rules.list': read('What was granted from now on.'),
  'rules.revoke': change('Takes a grant back.'),
  'trust.list': read('Files of the repository that trust is about, and what each would allow.'),
  'trust.set': change('A person’s word on content of the repository.'),
  'policy.rules': read('The rules that count for an actor, with file and line.'),
  'policy.check': read('Decides calls without running anything.'),
  'policy.explain': read('Decides one call and says why.'),
  'audit.list': read('Who decided what in a run, a page at a time.'),
  'audit.verify': read('Holds the audit of all runs against what was kept of it apart.'),
  'worktrees.list': read('The git worktrees of all runs.'),
  'worktrees.clean': change('Removes trees that are not needed, after saving their work.'),
  'diff.get': read('The changes of a task or of a run.'),
  'run.merge': change('Merges the branch of a run into one of the user’s.'),
  'run.get': read('One run with its tasks and actors, as a view of it shows them.'),
  'run.start': change('Checks a team file and starts a run in the supervisor that is up.'),
  'run.resume': change('Goes on with an interrupted run in the supervisor that is up.'),
  'run.wait': read('Answered when a run is over or was interrupted, and nothing of it is left.'),
  'supervisor.down': change('Stops all runs; then the supervisor that is up ends.'),
  'run.stop': change('Stops a run; answered when nothing of it is left.'),
  'actor.stop': change('Stops one actor; its mail is kept.'),
  'cron.list': read('Recurring jobs, when each is due next, and those that are set aside.'),
  'cron.history': read('What became of the slots of jobs, newest first.'),
  'cron.next': read('When a schedule is due; needs no job.'),
  'cron.edit': change('Adds, removes, pauses, resumes a recurring job, or runs it now.'),
  'actor.compact': change('Has an actor sum up the older part of its conversation.'),
  'skills.list': read('The skills that agents can load, and why others can’t be.'),
  'skills.check': { ...read('Holds skills against the specification.'), roles: PERSON },
  'memory.list': read('What is remembered of the repository.'),
  'doctor.examine': read(
    'What is wrong with journals, mail and settings, and what to do about it.',
  ),
  'team.check': { ...read('What a team file means, without a run.'), roles: PERSON },
  why: own('What does not move, the typed reason, and the one action that unblocks it.', 'run'),
  where: read('Where everything is kept.'),
  'trace.wire': { ...read('What the wire carried lately; can wait for more.'), roles: PERSON },
  'token.issue': change('A token for one actor of a run, as long as this supervisor lives.'),
};
