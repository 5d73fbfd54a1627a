import { fileURLToPath } from 'node:url';

export { DEMO_TASK_TYPES } from './agent.ts';
export * from './demo-issues.ts';

/** The agent's program, for the runner's `--exec`. */
export const DEMO_AGENT_PATH = fileURLToPath(new URL('./main.ts', import.meta.url));
