import type { UserConfig } from 'tsdown';

// `unbundle` keeps one output file per source file, so that a command loads only what it needs. Entries of
// threads are in `tsdown.threads.config.ts`.
const config: UserConfig = {
  entry: ['src/index.ts', 'src/main/*.ts', 'src/testing/index.ts'],
  format: 'esm',
  platform: 'node',
  target: 'node20',
  unbundle: true,
  fixedExtension: false,
  dts: true,
  clean: true,
};

export default config;
