import { parseArgsStringToArgv } from 'string-argv';

/** The login of an agent among its settings. */
export interface Login {
  /** Folder of the settings in the home folder. */
  folder: string;
  /** Variable that names another folder; null = none. */
  variable: string | null;
  files: readonly string[];
}

/** An agent of the Agent Client Protocol: how it is started, installed and authenticated. */
export interface AgentPreset {
  name: string;
  /** Name in reports and comparisons; absent = derived from `name`. */
  label?: string | undefined;
  /** Program and arguments. */
  command: readonly [string, ...string[]];
  /** Command that installs the program; null for a command of the user. */
  install: string | null;
  /** Environment variables with a key; one of them is sufficient. */
  keys: readonly string[];
  /** Further variables that the agent reads. */
  variables: readonly string[];
  /** Files with its login, which each task gets a copy of; null = none. */
  login: Login | null;
  /** Provider of the model, as recorded with costs. */
  provider: string;
  /** Session mode in which the agent requests permissions; null = its default. */
  mode: string | null;
}

const PROVIDER_KEYS = ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY', 'OPENROUTER_API_KEY'];

export const AGENTS = {
  claude: {
    name: 'claude',
    command: ['claude-agent-acp'],
    install: 'npm install --global @agentclientprotocol/claude-agent-acp',
    keys: ['ANTHROPIC_API_KEY', 'CLAUDE_CODE_OAUTH_TOKEN', 'ANTHROPIC_AUTH_TOKEN'],
    variables: ['ANTHROPIC_BASE_URL', 'ANTHROPIC_MODEL'],
    login: { folder: '.claude', variable: 'CLAUDE_CONFIG_DIR', files: ['.credentials.json'] },
    provider: 'anthropic',
    mode: 'default',
  },
  codex: {
    name: 'codex',
    command: ['codex-acp'],
    install: 'npm install --global @zed-industries/codex-acp',
    keys: ['OPENAI_API_KEY', 'CODEX_API_KEY'],
    variables: ['OPENAI_BASE_URL'],
    login: { folder: '.codex', variable: 'CODEX_HOME', files: ['auth.json'] },
    provider: 'openai',
    mode: null,
  },
  gemini: {
    name: 'gemini',
    command: ['gemini', '--acp'],
    install: 'npm install --global @google/gemini-cli',
    keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    variables: ['GOOGLE_CLOUD_PROJECT', 'GOOGLE_GENAI_USE_VERTEXAI'],
    login: { folder: '.gemini', variable: null, files: ['oauth_creds.json', 'google_accounts.json'] },
    provider: 'google',
    mode: null,
  },
  opencode: {
    name: 'opencode',
    command: ['opencode', 'acp'],
    install: 'npm install --global opencode-ai',
    keys: PROVIDER_KEYS,
    variables: ['OPENCODE_CONFIG'],
    login: { folder: '.local/share/opencode', variable: null, files: ['auth.json'] },
    provider: 'opencode',
    mode: null,
  },
  goose: {
    name: 'goose',
    command: ['goose', 'acp'],
    install: 'see https://block.github.io/goose/docs/getting-started/installation',
    keys: PROVIDER_KEYS,
    variables: ['GOOSE_PROVIDER', 'GOOSE_MODEL'],
    login: { folder: '.config/goose', variable: null, files: ['secrets.yaml'] },
    provider: 'goose',
    mode: null,
  },
} as const satisfies Record<string, AgentPreset>;

/** Variables with keys of all agents. */
export const KEY_VARIABLES = [...new Set(Object.values(AGENTS).flatMap(({ keys }): readonly string[] => keys))];

/** The name of an agent in reports and comparisons: its label, a preset, or the first 50 characters of a command. */
export const reportedName = ({ name, label }: AgentPreset): string =>
  label ?? [...name.trim().replaceAll(/[\s\p{C}]+/gu, ' ')].slice(0, 50).join('').trim();

/** Provider of an agent that is given as a command line. */
export const UNKNOWN_PROVIDER = 'unknown';

const isPreset = (name: string): name is keyof typeof AGENTS => Object.hasOwn(AGENTS, name);

/**
 * Returns the preset of this name, or an agent from a command line with blanks between its words; words with blanks are
 * quoted. @throws Error for an empty command.
 */
export function agentOf(text: string): AgentPreset {
  if (isPreset(text)) return AGENTS[text];
  const [program, ...args] = parseArgsStringToArgv(text);
  if (program === undefined) throw new Error('the command of the agent is empty');
  const variables: string[] = [];
  return {
    name: text,
    command: [program, ...args],
    install: null,
    keys: [],
    variables,
    login: null,
    provider: UNKNOWN_PROVIDER,
    mode: null,
  };
}
