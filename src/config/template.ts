/** What `troupe init` writes: a team file that works as it is, anywhere and without a key, with every part explained. */

const TEXT = `# A team of coding agents. Check this file with \`troupe check\`, run it with \`troupe run\`.
#
# As it is it needs no model and no key: command tasks look at the repository and change
# nothing. Parts that are switched off begin with \`#word\` or \`#  -\`; take that \`#\` away.
version: 1
name: NAME

# What the team is for. With a goal and no tasks the lead plans the tasks itself.
#goal: Make the failing tests pass and document what changed.

# Agents need a model, provider/model, and its key in the environment or in your own
# config. \`scripted/FILE\` plays a script and needs no key.
#model: anthropic/claude-sonnet-5-5

# Teammates have names, so that you can write to them: \`troupe send ada "…"\`. Without
# any, Troupe starts the agents that the tasks need.
#members:
#  lead: { agent: lead }
#  teammates:
#    - { name: ada, agent: implementer }
#    - { name: bo, agent: implementer }

tasks:
  # A command task: \`run\` is a shell command in a git worktree of its own. What it changes
  # is committed and merged into the run's branch; exit status 0 means that it succeeded.
  # \`troupe tasks whitespace\` shows what it printed.
  - id: whitespace
    title: List lines that end in white space
    run: git grep -nIE '[[:blank:]]+$' | head -n 200

  - id: conflicts
    title: List conflict markers that were left
    run: git grep -nIE '^(<<<<<<<|>>>>>>>) ' | head -n 200

  - id: overview
    title: Count files and commits
    run: git ls-files | wc -l && git rev-list --count HEAD
    needs: [whitespace, conflicts] # starts when these are done, with their work in its tree
    verify: [git diff --check]     # gates: run on the commit before the task counts as done

  # An agent's task has a \`prompt\` instead of \`run\`.
#  - id: fix
#    title: Make the tests pass
#    prompt: |
#      Run the tests, find out why they fail, and fix the code (not the tests).
#    agent: implementer          # who may take it; leave it out for anybody
#    touches: [src/**]           # tasks that touch the same files take turns
#    verify: [npm test]
#    attempts: 2
#    timeout: 15m

#  - id: document
#    title: Document what changed
#    prompt: Describe the public functions that changed in README.md.
#    needs: [fix]

# Agent profiles. lead, implementer, reviewer and explorer are built in; what you write
# here is added to them.
#agents:
#  implementer:
#    model: anthropic/claude-opus-5
#  writer:
#    description: Writes documentation
#    prompt: You write short, exact documentation. Finish with complete_task.
#    tools: [read_file, edit_file, write_file, grep, glob, complete_task, fail_task]

# What agents may do without being asked about. Reading is always allowed.
permissions:
  default: allow                # allow | ask | deny
  rules:
    - { id: no-web, effect: deny, tool: web_fetch, reason: the answer is in the repository }

# The run stops when one of these is used up; for models also in dollars: \`usd: 2\`.
budget: { wall: 30m }

# parallel: tasks at once · turns: model answers per attempt · depth, fanout: subagents.
limits: { parallel: 4, turns: 60, depth: 2, fanout: 4 }

# Where the work starts from; your branch and working tree are never touched.
base: HEAD

# Each task works in a git worktree of its own. \`setup\` runs in it first; \`copy\` and
# \`link\` bring files that git does not have.
worktree:
  setup: []                     # [npm ci]
  copy: []                      # [.env]
  link: []                      # [node_modules]

# How the work of a task gets into the run's branch: merge, squash or rebase.
merge: { style: merge }

# Commands that must succeed on the finished branch.
finish: { verify: [] }          # [npm test]
`;

export function teamTemplate(name = 'my-team'): string {
  return TEXT.replace('name: NAME', () => `name: ${name}`);
}
