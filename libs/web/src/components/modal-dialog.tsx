import type { ReactNode } from 'react';
import { Dialog as AriaDialog, Heading } from 'react-aria-components/Dialog';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { Button } from './button.tsx';
import styles from './modal-dialog.module.css';

interface DialogProps {
  title: string;
  onClose: () => void;
  /** False while it must be answered, such as a login. */
  canClose?: boolean;
  /** `alertdialog` for what destroys. */
  role?: 'dialog' | 'alertdialog';
  children: ReactNode;
}

/** The dialog of `Dialog`, a file of its own. */
export default function ModalDialog({ title, onClose, canClose = true, role = 'dialog', children }: DialogProps) {
  return (
    <ModalOverlay
      className={styles.scrim}
      isOpen
      isDismissable={canClose && role === 'dialog'}
      isKeyboardDismissDisabled={!canClose}
      onOpenChange={(open) => !open && onClose()}
    >
      <Modal className={styles.modal}>
        <AriaDialog className={styles.dialog} role={role}>
          <header className={styles.head}>
            <Heading slot="title" level={2} className={styles.title}>
              {title}
            </Heading>
            {canClose && <Button kind="quiet" glyph="close" aria-label="Close" onPress={onClose} />}
          </header>
          {children}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}
