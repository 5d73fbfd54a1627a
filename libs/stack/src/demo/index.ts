import { fileURLToPath } from 'node:url';

export * from './demo-issues.ts';

/** The script of the demo agent, for the scripted agent. */
export const DEMO_SCRIPT = fileURLToPath(new URL('./script.ts', import.meta.url));
