import { Fragment } from 'react';

/** A path of the API; in a narrow window it breaks behind a slash rather than within a name. */
export function PathText({ path }: { path: string }) {
  const [first, ...parts] = path.split('/');
  return (
    <>
      {first}
      {parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts repeat and never move
        <Fragment key={index}>
          /<wbr />
          {part}
        </Fragment>
      ))}
    </>
  );
}
