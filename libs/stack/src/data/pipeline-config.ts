import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const FILE = 'pipeline.yaml';

const text = (
  username: string,
) => `# The monitor's configuration (PIPELINE_CONFIG). Made by the first start; yours to change.
agents:
  monitor:
    auth:
      username: ${JSON.stringify(username)}
      passwordEnv: MONITOR_PASSWORD
# Seconds, short ones: a demonstration should be lively.
pollIntervals:
  sprintMaster: 5
  monitor: 2
`;

/** Writes the configuration unless there is one. */
export async function writePipelineConfig(dataDir: string, username: string): Promise<void> {
  const file = join(dataDir, FILE);
  const isThere = await access(file).then(
    () => true,
    () => false,
  );
  if (!isThere) await writeFile(file, text(username), { mode: 0o600 });
}
