// The direction of imports between the rooms of src/, as one table; all rules follow from it.
// tests/unit/tidy/layers.test.ts holds it equal to the table in ARCHITECTURE.md.

const rank = {
  kernel: 0,
  protocol: 1,
  journal: 2,
  platform: 2,
  config: 2,
  mailbox: 3,
  events: 3,
  sessions: 3,
  memory: 3,
  tasks: 3,
  permissions: 3,
  worktree: 3,
  cron: 3,
  skills: 3,
  providers: 3,
  tools: 3,
  mcp: 4,
  agent: 4,
  actors: 4,
  supervisor: 5,
  control: 6,
  ipc: 7,
  http: 7,
  client: 7,
  cli: 8,
  tui: 8,
  webui: 8,
  main: 9,
  testing: 9,
};

const rooms = Object.keys(rank);
const below = (room) => rooms.filter((other) => rank[other] < rank[room]);

/** Which rooms a room may import, besides itself. */
const mayImport = Object.fromEntries(rooms.map((room) => [room, below(room)]));
mayImport.testing = mayImport.testing.filter((room) => !['cli', 'tui', 'webui'].includes(room));

/** Rooms whose files may be imported one by one; of all others only index.ts. */
const importableByFile = ['kernel', 'protocol'];
/**
 * client/index.ts stays free of Node for the browser, so its Node half is imported by name. The parent of a supervisor
 * (main/parent.ts) loads as little as it can, so that as little as can be takes it down: of platform only its log.
 */
const importableFiles = ['client/socket.ts', 'platform/json-logger.ts'];

/** Where Node's own modules may be used: folders of src/, or single files. */
const nodeAtTheEdge = ['platform/', 'main/', 'ipc/', 'http/', 'cli/', 'tui/'];
const nodeFiles = ['client/socket.ts', 'actors/host/'];

const any = (names) => `(${names.join('|')})`;
const escaped = (path) => path.replaceAll('.', '[.]');
const npmTypes = ['npm', 'npm-dev', 'npm-optional', 'npm-peer', 'npm-no-pkg', 'npm-unknown'];

const roomRules = rooms.map((room) => ({
  name: `room-${room}`,
  comment: `${room} (rank ${rank[room]}) imports only rooms of lower rank`,
  severity: 'error',
  from: { path: `^src/${room}/` },
  to: { path: '^src/', pathNot: `^src/${any([room, ...mayImport[room]])}/` },
}));

module.exports = {
  forbidden: [
    ...roomRules,
    {
      name: 'room-not-in-table',
      comment: 'a new room gets a rank here and in ARCHITECTURE.md',
      severity: 'error',
      from: { path: '^src/[^/]+/', pathNot: `^src/${any(rooms)}/` },
      to: {},
    },
    {
      name: 'rooms-speak-through-index',
      comment: 'a room is imported through its index.ts only',
      severity: 'error',
      from: { path: '^src/([^/]+)/' },
      to: {
        path: '^src/',
        pathNot: [
          '^src/$1/',
          '^src/[^/]+/index[.]ts$',
          `^src/${any(importableByFile)}/`,
          `^src/${any(importableFiles.map(escaped))}$`,
        ],
      },
    },
    {
      name: 'library-surface',
      comment: 'src/index.ts shows rooms up to control, by their index, and no adapters',
      severity: 'error',
      from: { path: '^src/[^/]+$' },
      to: {
        path: '^src/',
        pathNot: `^src/(${rooms
          .filter((room) => rank[room] <= rank.control && room !== 'platform')
          .join('|')})/index[.]ts$`,
      },
    },
    {
      name: 'src-without-tests',
      comment: 'product code does not import tests, benchmarks or scripts',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(tests|bench|scripts|examples)/' },
    },
    {
      name: 'no-testing-in-src',
      comment: 'fakes are for tests and for users of troupe/testing',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/testing/' },
      to: { path: '^src/testing/' },
    },
    {
      name: 'node-builtins-at-the-edge',
      comment: 'I/O is behind the ports of the kernel',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: `^src/${any([...nodeAtTheEdge, ...nodeFiles].map(escaped))}`,
      },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'threads-in-the-hosts',
      comment: 'only actors/host knows how threads are made',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/actors/host/' },
      to: {
        path: '^(node:)?worker_threads$|(^|/)node_modules/(comlink|piscina)/|^(comlink|piscina)',
      },
    },
    {
      name: 'kernel-is-bare',
      comment: 'kernel uses no npm package',
      severity: 'error',
      from: { path: '^src/kernel/' },
      to: { dependencyTypes: npmTypes },
    },
    {
      name: 'no-dev-dependency-in-src',
      comment: 'what src imports is installed with the package',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg'], dependencyTypesNot: ['npm', 'type-only'] },
    },
    {
      name: 'no-circular',
      severity: 'error',
      from: { path: '^src/' },
      to: { circular: true },
    },
    {
      name: 'not-to-unresolvable',
      severity: 'error',
      from: { path: '^src/' },
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types', 'default'],
      extensions: ['.ts', '.js', '.mjs', '.cjs', '.d.ts'],
    },
  },
};

// Not enumerable, because dependency-cruiser refuses keys it does not know.
Object.defineProperty(module.exports, 'rank', { value: rank });
