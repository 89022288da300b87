/**
 * The one decision-maker of a run: `decide(state, live, happening)` says what an event means, `settle` what is to be done
 * next. Both are pure over what they are given; they change `live` and nothing else. Every draft is committed (appended,
 * applied, executed) before the next is made.
 */
import { USER } from '../../kernel/index.ts';
import { Draft } from '../draft.ts';
import type { Happening, RunEvent } from '../inbox.ts';
import type { Live } from '../live.ts';
import type { RunState } from '../state.ts';
import { actorExited } from './actors.ts';
import {
  answerAsk,
  answerNext,
  asksDue,
  callLooked,
  judgeAgain,
  revokeGrant,
  rulesChanged,
} from './asks/answer.ts';
import { endOrphan, outputRead, waitOver } from './background.ts';
import { commandEnded } from './commands.ts';
import { askCompaction } from './context.ts';
import { refusedAsLate } from './fence.ts';
import { diskFull, holdBack, stopWhenAnswered } from './full-disk.ts';
import { holdForHooks, hooksEnded } from './hooks-after.ts';
import { jobEdited } from './job-edits.ts';
import { decideSend, deliverNext, settleDead } from './mail.ts';
import { mergeComputed, nextMerge, refAdvanced } from './merges.ts';
import { endQuotas, letOut, outletDue } from './outlet.ts';
import { userDecides } from './plans.ts';
import { policyChanged } from './policy.ts';
import { nextTree } from './replay-order.ts';
import { decideRequest } from './requests.ts';
import { diffReady } from './reviewers.ts';
import { VIEW } from './roster.ts';
import { damaged, resumed, settleEnd, started, stop, stopActor, stopped, wakeNext } from './run.ts';
import { jobsDue, planJobs } from './run-jobs.ts';
import { answerStopped } from './stops.ts';
import { endStrayHelper } from './subagents.ts';
import { planSweep, sweep } from './sweep.ts';
import { advance, dispatch, treeCommitted, treePrepared } from './tasks.ts';
import { settleTeamwork } from './team-sweep.ts';
import { refreshView, viewReady } from './view.ts';

export { noticedBy } from './hooks-after.ts';

/** What the event means. */
export function decide(state: RunState, live: Live, happening: Happening): Draft {
  const late = refusedAsLate(state, live, happening.event);
  const draft = meaningOf(state, live, happening);
  if (late !== null) draft.effect(late);
  return holdForHooks(live, holdBack(live, draft));
}

function meaningOf(state: RunState, live: Live, happening: Happening): Draft {
  const { event } = happening;
  switch (event.type) {
    case 'started':
      return started(state, live, happening);
    case 'resumed':
      return resumed(state, live, happening, event);
    case 'damaged':
      return damaged(state, happening, event);
    case 'request':
      return decideRequest(state, live, happening, event);
    case 'policy.changed':
      return policyChanged(state, live, happening, event.snapshot);
    case 'actor.exited':
      return actorExited(state, live, happening, event);
    case 'tree.prepared':
      return treePrepared(state, live, happening, event);
    case 'view.ready':
      return viewReady(state, live, happening, event.outcome);
    case 'tree.committed':
      return treeCommitted(state, live, happening, event);
    case 'tree.dropped':
      return treeDropped(state, live, happening);
    case 'command.ended':
      return commandEnded(state, live, happening, event);
    case 'output.read':
      return outputRead(state, live, happening, event);
    case 'wait.over':
      return waitOver(state, live, happening, event.call);
    case 'diff.ready':
    case 'merge.computed':
    case 'ref.advanced':
      return ofCommits(state, live, happening, event);
    case 'send':
      return decideSend(state, live, happening, event);
    case 'mail.settle':
      return settleDead(state, live, happening, event);
    case 'compact':
      return askCompaction(state, live, happening, event);
    case 'plan.decide':
      return userDecides(state, live, happening, event);
    case 'ask.answer':
      return answerAsk(state, live, happening, event);
    case 'call.looked':
      return callLooked(state, live, happening, event);
    case 'asks.due':
    case 'jobs.due':
    case 'outlet.due':
    case 'mail.due':
      return ofTimers(state, live, happening, event);
    case 'cron.edited':
      return jobEdited(state, live, happening, event);
    case 'rules.changed':
      return rulesChanged(state, live, happening, event);
    case 'grant.revoke':
      return revokeGrant(state, happening, event);
    case 'stop':
      return stop(state, live, happening, event);
    case 'stop.actor':
      return stopActor(state, live, happening, event);
    case 'disk.full':
      return diskFull(state, live, happening, event.error);
    case 'stopped':
      return stopped(state, live, happening, event.left);
    case 'hooks.ended':
      return hooksEnded(state, live, happening, event);
    case 'sweep':
      return sweep(state, live, happening, event.beats);
  }
}

/** Something is to be looked at again. */
function ofTimers(
  state: RunState,
  live: Live,
  happening: Happening,
  event: Extract<RunEvent, { type: 'asks.due' | 'jobs.due' | 'outlet.due' | 'mail.due' }>,
): Draft {
  if (event.type === 'asks.due') return asksDue(state, happening);
  if (event.type === 'jobs.due') return jobsDue(state, live, happening);
  if (event.type === 'outlet.due') return outletDue(state, live, happening);
  live.mailDirty.add(event.name);
  return new Draft(state, happening);
}

/** What was learnt of commits, and no tree. */
function ofCommits(
  state: RunState,
  live: Live,
  happening: Happening,
  event: Extract<RunEvent, { type: 'diff.ready' | 'merge.computed' | 'ref.advanced' }>,
): Draft {
  if (event.type === 'diff.ready') return diffReady(state, live, happening, event);
  if (event.type === 'merge.computed') return mergeComputed(state, live, happening, event);
  return refAdvanced(state, live, happening, event);
}

/** The next thing to do that follows from the state alone; null when all is waiting for an event. */
export function settle(state: RunState, live: Live, happening: Happening): Draft | null {
  const draft = nextOf(state, live, happening);
  return draft === null ? null : holdForHooks(live, draft);
}

function nextOf(state: RunState, live: Live, happening: Happening): Draft | null {
  const over = answerStopped(state, live, happening);
  if (over !== null) return over;
  if (live.halting !== null) return stopWhenAnswered(state, live, happening);
  if (state.run.ended !== null || state.run.startedAt === null) return null;
  for (const id of live.dirty) {
    live.dirty.delete(id);
    const draft = advance(state, live, happening, id);
    if (!draft.empty) return draft;
  }
  return (
    endOrphan(state, live, happening) ??
    endStrayHelper(state, live, happening) ??
    letOut(state, live, happening) ??
    endQuotas(state, live, happening) ??
    answerNext(state, live, happening) ??
    judgeAgain(state, live, happening) ??
    settleTeamwork(state, live, happening) ??
    nextTree(state, live, happening, advance) ??
    nextMerge(state, live, happening) ??
    dispatch(state, live, happening) ??
    refreshView(state, live, happening) ??
    deliverNext(state, live, happening) ??
    wakeNext(state, live, happening) ??
    planJobs(state, live, happening) ??
    planSweep(state, live, happening) ??
    settleEnd(state, live, happening)
  );
}

function treeDropped(state: RunState, live: Live, happening: Happening): Draft {
  const draft = new Draft(state, happening).about('git');
  if (happening.event.type !== 'tree.dropped') return draft;
  const { owner, removed, saved, text } = happening.event;
  live.drops.delete(owner);
  if (owner === VIEW) live.view = 'none';
  if (saved !== null) draft.tree({ type: 'tree.saved', owner, ...saved });
  const tree = state.trees.get(owner);
  // A view that can't be removed is nobody's work: it is forgotten here, and found by the list of trees.
  if ((removed || owner === VIEW) && tree !== undefined)
    draft.tree({ type: 'tree.removed', owner, path: tree.path });
  if (!removed) {
    draft.notice({
      to: USER,
      lane: 'normal',
      type: 'chat.message',
      body: { text: `The tree of ${owner} was kept: ${text}` },
    });
  }
  return draft;
}
