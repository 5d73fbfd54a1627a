import { type ComponentProps, lazy, Suspense } from 'react';

const ModalDialog = lazy(() => import('./modal-dialog.tsx'));

/** A modal dialog, loaded when the first one opens; the page behind it is inert and gets the focus back. */
export const Dialog = (props: ComponentProps<typeof ModalDialog>) => (
  <Suspense>
    <ModalDialog {...props} />
  </Suspense>
);
