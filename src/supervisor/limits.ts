/** Named limits of the supervisor. */

/** A stop lets running commands come to their end for so long; then they are ended by force. */
export const STOP_GRACE_MS: number = 10_000;
/** On a full disk, answers of models that are under way get so long to come in (mailbox.md §3.2). */
export const FULL_GRACE_MS: number = 60_000;
/** After it a thread that was asked to stop is ended by force. */
export const THREAD_GRACE_MS: number = 2_000;
/** TERM to KILL for a process tree. */
export const KILL_GRACE_MS: number = 2_000;
/** Bytes of one command's output on disk. */
export const OUTPUT_MAX_BYTES: number = 64 * 1024 * 1024;
/** What a model sees of one command's output: so much of its head and of its tail. */
export const OUTPUT_HEAD_BYTES: number = 6 * 1024;
export const OUTPUT_TAIL_BYTES: number = 10 * 1024;
/** Of a gate's output in a rework letter. */
export const GATE_TAIL_BYTES: number = 6 * 1024;
/** Default and greatest deadline of a `bash` call. */
export const BASH_TIMEOUT_MS: number = 120_000;
export const BASH_TIMEOUT_MAX_MS: number = 30 * 60_000;
/** Deadline of a command in the background, unless its actor gives an earlier one. */
export const BACKGROUND_TIMEOUT_MS: number = 2 * 60 * 60_000;
/** Commands that one actor has in the background at once, and ended ones of a run that can still be asked about. */
export const BACKGROUND_MAX = 8;
export const BACKGROUND_ENDED_KEPT = 256;
/** How long `bash_wait` waits, unless it says otherwise. */
export const WAIT_MS: number = 120_000;
/** What one `bash_output` shows at most. */
export const OUTPUT_PAGE_BYTES: number = 12 * 1024;
/** Of a command line, in a letter or a list. */
export const COMMAND_SHOWN_CHARS = 200;
/** One setup command of a tree. */
export const SETUP_TIMEOUT_MS: number = 15 * 60_000;
/** A claim's lease; renewed by every sign of life (mailbox.md §3.13). */
export const LEASE_MS: number = 60_000;
/** How often leases, deadlines and budgets are looked at while something runs. */
export const SWEEP_MS: number = 5_000;
/** The latest look at a deadline that is far away: a timer must not be relied on for days. */
export const SWEEP_FAR_MS: number = 60 * 60_000;
/** Sweeps in a row that find a task that could be begun and was not, before it is told. */
export const STALLED_SWEEPS = 2;
/** An actor that has been idle for so long gives its thread back; mail makes it another one. */
export const PASSIVATE_MS: number = 120_000;
/** So many deaths of one actor within the period and it is not started again, unless the team says otherwise (mailbox.md §3.12). */
export const RESTART_INTENSITY: number = 3;
export const RESTART_PERIOD_MS: number = 60_000;
/** The first restart is at once; later ones wait, doubled each time up to the most, with jitter, until it was well for so long. */
export const BACKOFF_BASE_MS = 1_000;
export const BACKOFF_MAX_MS: number = 5 * 60_000;
export const HEALTHY_MS: number = 10 * 60_000;
/** Attempts in a row that ended alike, over so many tasks, park the others; for how long at first, and at most. */
export const BREAKER_AFTER = 5;
export const BREAKER_TASKS = 3;
export const BREAKER_MS = 60_000;
export const BREAKER_MAX_MS: number = 30 * 60_000;
/** Deaths of one actor that are remembered, and causes that an escalation tells. */
export const DEATHS_KEPT = 64;
export const CAUSES_TOLD = 3;
/** Heap of an actor's thread; twice as much after it was not enough, once. */
export const HEAP_MB = 1_024;
export const MEMORY_DEATHS_MAX = 2;
/** Reminders to an actor that ends its turn without ending its task, per attempt. */
export const NUDGES_MAX: number = 1;
/** The read-only view is tried so often; a failure of git may pass. */
export const VIEW_TRIES: number = 3;
/** Sweeps for which a merge waits for something outside that stands in its way, before its task fails. */
export const MERGE_HOLDS_MAX: number = 120;
/** A review takes so long at most, unless its gate says otherwise; one that ended without a word is begun once more. */
export const REVIEW_MS: number = 30 * 60_000;
export const REVIEW_TRIES = 2;
/** Of a diff, in what a reviewer is told. */
export const REVIEW_DIFF_CHARS: number = 60 * 1024;
/** From so many waiting candidates on the gates of a merge run for several at once, and for how many at most. */
export const MERGE_BATCH_FROM = 3;
export const MERGE_BATCH_MAX = 16;
/** Share of a budget at which the run warns. */
export const BUDGET_WARN_SHARE: number = 0.9;
/**
 * On their way to the disk at once, of what actors and clients want: the more, the larger a group commit, and the longer a
 * single letter waits behind others. The rest waits in the inbox, of which clients are refused when it holds so much.
 */
export const COMMIT_RECORDS_MAX = 256;
export const COMMIT_BYTES_MAX: number = 1024 * 1024;
export const INBOX_BYTES_MAX: number = 64 * 1024 * 1024;
/** What one actor, or all clients, may have decided before the others' turn; about twenty short letters. */
export const TURN_BYTES: number = 16 * 1024;
/** A snapshot of a run's state is taken after so many bytes of records, or after so long without one (mailbox.md §3.9). */
export const SNAPSHOT_BYTES: number = 64 * 1024 * 1024;
export const SNAPSHOT_IDLE_MS: number = 5 * 60_000;
/** So many of the records that a snapshot spares are checked for damage before the run goes on; the rest beside it. */
export const CHECK_FIRST_RECORDS: number = 20_000;
/** The workspace journal is compacted when it is larger than twice what is live and this. */
export const WORKSPACE_SLACK_BYTES: number = 1024 * 1024;
/** So long after its last record the journal of an ended run is packed. */
export const PACK_AFTER_MS: number = 7 * 24 * 60 * 60_000;
/** So much of the end of a journal is read to see that its run has ended, and when. */
export const PACK_TAIL_BYTES: number = 256 * 1024;
/** An actor that dies so often with a letter in hand is not given it again (mailbox.md §3.10). */
export const POISON_DEATHS = 2;
/** Hand-overs of a letter that ended without an answer, because its actor or the supervisor died; then it is dead. */
export const DELIVERIES_MAX = 5;
/** After so many terms that were cut with it in hand, a letter is given alone. */
export const CUTS_ALONE = 2;
/** From this end of a hand-over on, a letter waits before it is given again. */
export const RETRY_WAITS_FROM = 2;
/** Back-off before a letter is given again: doubled each time, with up to as much as jitter. */
export const RETRY_BASE_MS = 1_000;
/** Of a letter, in a notice about it. */
export const NOTICE_QUOTE_CHARS = 300;
/** Lines on the team and its tasks that a compacted conversation is told. */
export const TEAM_LINES_MAX = 60;
/** A plan waits so long for an actor to review it, and so long for a person; then it expires, and its gate stays shut. */
export const PLAN_REVIEW_MS: number = 30 * 60_000;
export const PLAN_PERSON_MS: number = 24 * 60 * 60_000;
/** So long a plan that was asked for may take; then both are told, once. */
export const PLAN_REQUEST_MS: number = 15 * 60_000;
/** Requests for plans that one actor may have open. */
export const PLAN_REQUESTS_MAX = 16;
/** Of a plan that was decided, and of what a request is about, kept for lists. */
export const CLOSED_PLAN_CHARS = 2_000;
/** An actor that is asked to shut down must say something within this time, and be done within the other. */
export const SHUTDOWN_ANSWER_MS: number = 60_000;
export const SHUTDOWN_WORK_MS: number = 5 * 60_000;
/** Members, plans and requests that `team_status` lists. */
export const STATUS_ROWS_MAX = 60;

/** Facts that one run may note for later runs. */
export const NOTES_MAX = 200;
/** From this level on the sandbox counts when a call is judged (permissions §2.14). */
export const SANDBOX_LEVEL: number = 2;
/** Of a hook's output, its reason, and the context that it adds. */
export const HOOK_OUTPUT_MAX: number = 256 * 1024;
export const HOOK_REASON_MAX = 2_000;
export const HOOK_CONTEXT_MAX: number = 16 * 1024;
/** Of a result, as a hook is given it. */
export const HOOK_RESULT_CHARS: number = 64 * 1024;
/** A call whose input hooks have rewritten so often is denied. */
export const HOOK_REWRITES_MAX = 3;
/** Records of an audit chain between two of its heads. */
export const AUDIT_HEAD_STEP = 32;
/** An answer that a budget leaves less room for is not asked for; one with less than the other waits while others are under way. */
export const ANSWER_FLOOR_TOKENS = 256;
export const ANSWER_COMFORT_TOKENS = 4096;
/** A quota of which nobody said when it is there again is tried after this time. */
export const QUOTA_RETRY_MS: number = 15 * 60_000;
export const QUOTA_MIN_MS = 1000;
/** A provider that does not answer is left alone for so long at first; twice as long each time, up to the most. */
export const DOWN_MS: number = 60_000;
export const DOWN_MAX_MS: number = 15 * 60_000;
/** Requests that were held together go out within so long for each of them, and within the other all together. */
export const SPREAD_EACH_MS = 250;
export const SPREAD_MAX_MS: number = 10_000;
/** A request waits so long for a sibling's answer to begin; and what has begun is kept by its provider so long, at least. */
export const PREFIX_WAIT_MS: number = 15_000;
export const PREFIX_KEPT_MS: number = 4 * 60_000;
/** So often requests that wait for a provider are looked at, at least. */
export const OUTLET_LOOK_MS: number = 60_000;

/** Read of the end of a view, to find the newest record that it tells of: two of its longest usual lines. */
export const VIEW_END_BYTES: number = 256 * 1024;

/** Of a job's command without a time limit. */
export const CRON_COMMAND_TIMEOUT_MS: number = 60 * 60_000;
/** Of the command that tells of a failed slot. */
export const CRON_NOTICE_TIMEOUT_MS = 60_000;
/** The clock is looked at so often while jobs wait: it may be set, and machines sleep. */
export const CRON_LOOK_MS = 30_000;
/** Jobs that are looked at before others get a turn. */
export const CRON_TURN = 256;

/** Records whose lines wait in memory while views of a run are made anew. */
export const VIEWS_ANEW_RECORDS = 1_000;
/** Undeclared files that a letter names. */
export const TOUCHES_SHOWN = 20;
/** Jobs that the actors of a run may have. */
export const RUN_JOBS_MAX = 20;
/** Missed slots of such a job are counted as far as this. */
export const RUN_SLOTS_COUNTED_MAX = 100_000;
/** A letter about a conflict: other tasks that it names, and how much of what each says of itself. */
export const OTHERS_TOLD_MAX = 10;
export const OTHER_SUMMARY_CHARS = 2000;
