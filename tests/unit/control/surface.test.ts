/** What the package exports is a promise: a name that comes or goes is seen here. */
import { expect, test } from 'vitest';
import * as troupe from '../../../src/index.ts';

test('the library exports these names', () => {
  expect(Object.keys(troupe).toSorted().join(' ')).toMatchInlineSnapshot(
    `"EXIT TroupeError actorsOf checkTeam cleanWorktrees createRun diffOf eventsOfRun followEvents followMail isTroupeError listRuns listWorktrees makeLiveControl mergeRun openSupervisor openWorkspace parseTeam prepareRun readMail rowOf sendMail tasksOf teamJsonSchema teamTemplate viewRun whereIs"`,
  );
});
