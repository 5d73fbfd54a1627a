/** Path and query of the page where an invitation is accepted. */
export const invitationPath = (token: string): string => `/account/invitation?token=${token}`;
