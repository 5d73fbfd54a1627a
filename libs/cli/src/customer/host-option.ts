/** The option of commands that need the address of the service. */
export const HOST_OPTION: [string, string] = [
  '--host <url>',
  'address of the hosted API, such as https://pipeline.example.org (default: PIPELINE_URL, else that of the last login)',
];
