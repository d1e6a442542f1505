// SPDX-License-Identifier: Apache-2.0
// Asks for a token. It is kept in memory alone: another page of the same origin cannot read it, and a reload forgets it.

import {element, setText} from "./dom.js";

export class SignIn {
  // Calls give(token).
  constructor(give) {
    this.text = element("textarea", {id: "token", rows: 5, autocomplete: "off", spellcheck: "false", required: true});
    this.why = element("p.sentence", {role: "alert"});
    const form = element("form", {
      method: "dialog",
      onsubmit: (event) => {
        event.preventDefault();
        const token = this.text.value.trim();
        if (token === "") return;
        this.text.value = "";
        give(token);
      },
    },
    element("h2", {id: "sign-in"}, "Sign in"),
    this.why,
    element("p", {}, "You see the gangs of the namespaces in which you may list pods. Paste a token of Kubernetes. For example, make one by: ",
      element("code", {}, "kubectl create token NAME -n NAMESPACE")),
    element("label", {for: "token"}, "Token"),
    this.text,
    element("div.tools", {}, element("button.main", {type: "submit"}, "Sign in")));
    this.dialog = element("dialog", {"aria-labelledby": "sign-in"}, form);
    // Without a token there is nothing to show, so Escape does not close it.
    this.dialog.addEventListener("cancel", (event) => event.preventDefault());
    document.body.append(this.dialog);
  }

  show(open, why) {
    setText(this.why, why ?? "");
    if (open && !this.dialog.open) this.dialog.showModal();
    if (!open && this.dialog.open) this.dialog.close();
  }
}
