import { AppError, type PipelineConfig } from '@pipeline/domain';
import { isPasswordHash } from '@pipeline/engine';

export type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Checks that the environment variables that a configuration names are set, and that passwords which look like hashes
 * are valid ones.
 * @throws AppError CONFIG_VALIDATION_FAILED, one line for each problem.
 */
export function requireVariables(config: PipelineConfig, variables: Variables): void {
  const problems = namedBy(config).flatMap(({ name, by, isPassword }) => {
    const value = variables[name] ?? '';
    if (value === '') return [`${name}: must be set: ${by}`];
    if (isPassword && value.startsWith('$argon2') && !isPasswordHash(value)) {
      return [`${name}: looks like a hash, but is not argon2id in the PHC format ($argon2id$v=19$m=…,t=…,p=…)`];
    }
    return [];
  });
  if (problems.length > 0) throw new AppError('CONFIG_VALIDATION_FAILED', problems.join('\n'));
}

interface Named {
  name: string;
  /** Which key names it. */
  by: string;
  isPassword?: boolean;
}

function namedBy({ agents, alertChannels, retrieval }: PipelineConfig): Named[] {
  const auth = agents.monitor?.auth;
  const logins = auth ? [auth, ...auth.logins] : [];
  const { embedding, embeddingEndpoint } = retrieval;
  const key = embedding ? (embeddingEndpoint?.apiKeyEnv ?? null) : null;
  return [
    ...logins.map(({ username, passwordEnv }) => {
      return { name: passwordEnv, by: `agents.monitor.auth names it for ${username}`, isPassword: true };
    }),
    ...alertChannels.flatMap((channel, n) => {
      if (channel.type === 'webhook')
        return [{ name: channel.secretEnv, by: `alertChannels[${n}].secretEnv names it` }];
      return channel.type === 'slack' ? [{ name: channel.urlEnv, by: `alertChannels[${n}].urlEnv names it` }] : [];
    }),
    ...(key === null ? [] : [{ name: key, by: 'retrieval.embeddingEndpoint.apiKeyEnv names it' }]),
  ];
}
