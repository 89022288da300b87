export type { Finding } from '../protocol/views.ts';
