import { displayText } from '@pipeline/domain';

/** Maximum length of the name of a program in characters; it is shown to people who decide. */
const NAME_LENGTH = 100;
const NO_NAME = 'A program without a name';

/** A program as people see it. */
export interface Program {
  id: string;
  /** Cleaned: fit for pages, audit entries and logs. */
  name: string;
  /** The host of the metadata document that describes it; null = it registered itself, and its name is not verified. */
  verifiedHost: string | null;
}

/** The one cleaning of names of programs, whether they were registered or come from a metadata document. */
export const programName = (name: unknown): string =>
  (typeof name === 'string' && displayText(name, NAME_LENGTH)) || NO_NAME;

/** @param client as the OAuth library has it. */
export function programOf({ clientId, clientName }: { clientId: string; clientName?: string | undefined }): Program {
  // Ids of registered programs are no addresses.
  const verifiedHost = URL.parse(clientId)?.host || null;
  return { id: clientId, name: programName(clientName ?? verifiedHost), verifiedHost };
}

/** An authorization that ended before a person could decide, for the page that reports it. */
export interface AuthorizationProblem {
  /** OAuth's code of the error, and the library's description: for developers. */
  error: string;
  description: string | undefined;
  /** null = no program is known by that id. */
  program: Program | null;
  /** Address to which the program wants the answer; null = it is not one that the program has registered. */
  redirect: string | null;
}
