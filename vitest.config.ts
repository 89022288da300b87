import type { ViteUserConfig } from 'vitest/config';

// One project per degree of purity. Groups run one after the other, so that tests which start
// threads and processes do not compete with each other for the machine.
const buildFirst = ['tests/support/build.ts'];

const config: ViteUserConfig = {
  test: {
    passWithNoTests: true,
    coverage: { provider: 'v8', include: ['src/**/*.ts'], reporter: ['text', 'html'] },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['tests/unit/**/*.test.ts'],
          pool: 'threads',
          // A bound for what hangs, not for what is slow: a loaded machine took more than the default of five seconds.
          testTimeout: 60_000,
          sequence: { groupOrder: 0, shuffle: { tests: true } },
        },
      },
      {
        test: {
          name: 'contract',
          include: ['tests/contract/**/*.test.ts'],
          pool: 'threads',
          testTimeout: 15_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'sim',
          include: ['tests/sim/**/*.sim.ts'],
          pool: 'threads',
          testTimeout: 60_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'thread',
          include: ['tests/thread/**/*.test.ts'],
          pool: 'forks',
          fileParallelism: false,
          globalSetup: buildFirst,
          testTimeout: 30_000,
          hookTimeout: 30_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['tests/e2e/**/*.test.ts'],
          pool: 'forks',
          maxWorkers: 2,
          globalSetup: buildFirst,
          testTimeout: 120_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
};

export default config;
