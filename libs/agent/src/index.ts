export { AGENTS, type AgentPreset, agentOf } from './agents/presets.ts';
export { checkAgent } from './check-agent.ts';
export { Mirror } from './git/mirror.ts';
export { startingPoint } from './git/starting-point.ts';
export { taskFolders } from './git/tree-folders.ts';
export { WorkTree } from './git/work-tree.ts';
export { noSandbox } from './sandbox/choose-sandbox.ts';
export { judgeMerge } from './tasks/merge.ts';
export { acceptVerdict } from './tasks/submission.ts';
