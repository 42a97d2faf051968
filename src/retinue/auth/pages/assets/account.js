// The script of the page for registration. Its form is sent as JSON to its `action`, and nothing is sent
// before the person presses the button. The link's token leaves the address bar at once and is sent in the body
// only. Server responses are only ever inserted as text.

const $ = (id) => document.getElementById(id);
const forms = [...document.querySelectorAll("form")];
const token = takeToken(forms[0].dataset.token);

function takeToken(name) {
  const found = new URLSearchParams(location.search).get(name) || history.state?.token;
  // Kept for a reload of this tab: without it, an invitation would become a plain registration.
  if (location.search) history.replaceState({ token: found }, "", location.pathname);
  return found;
}

function show(text, kind) {
  $("result").textContent = text;
  $("result").className = `result ${kind}`;
  $("result").scrollIntoView({ block: "nearest" });
}

function offerHelp() {
  if ($("help")) $("help").hidden = false;
}

function mark(input, problem) {
  $(`${input.id}-problem`).textContent = problem && `${problem[0].toUpperCase()}${problem.slice(1)}.`;
  if (problem) input.setAttribute("aria-invalid", "true");
  else input.removeAttribute("aria-invalid");
}

const fieldsOf = (form) => [...form.querySelectorAll("input[name]")];

function prepare(form) {
  show("", "");
  for (const input of fieldsOf(form)) mark(input, "");
  for (const box of form.querySelectorAll("[data-reveals]")) {
    box.checked = false;
    reveal(box);
  }
}

function reveal(box) {
  $(box.dataset.reveals).type = box.checked ? "text" : "password";
}

function bodyOf(form) {
  const body = Object.fromEntries(fieldsOf(form).map(({ name, value }) => [name, value]));
  if (form.dataset.token) body[form.dataset.token] = token;
  return JSON.stringify(body);
}

function succeed(form, { message }) {
  form.reset();
  for (const each of forms) each.hidden = true;
  if ($("help")) $("help").hidden = true;
  show(message, "good");
  $("result").focus();
}

function refuse(form, status, { message, details }) {
  const problems = (status === 422 && details) || {};
  const wrong = fieldsOf(form).filter(({ name }) => name in problems);
  for (const input of wrong) mark(input, problems[input.name]);
  const aboutLink = problems[form.dataset.token];
  if (aboutLink) offerHelp();
  if (aboutLink) show(`The link ${aboutLink}.`, "bad");
  else show(wrong.length ? "Please check the marked fields." : message, "bad");
  wrong[0]?.focus();
}

async function send(event) {
  event.preventDefault();
  const form = event.currentTarget;
  const button = form.querySelector("button");
  if (button.hasAttribute("aria-disabled")) return;
  // Not `disabled`, which would remove the focus.
  button.setAttribute("aria-disabled", "true");
  prepare(form);
  try {
    const headers = { "Content-Type": "application/json" };
    const answer = await fetch(form.action, { method: "POST", headers, body: bodyOf(form), credentials: "omit" });
    const content = await answer.json();
    if (answer.ok) succeed(form, content);
    else refuse(form, answer.status, content.error);
  } catch {
    show("The server cannot be reached at this moment. Try again.", "bad");
  }
  button.removeAttribute("aria-disabled");
}

for (const form of forms) {
  form.addEventListener("submit", send);
  form.querySelector("button").disabled = false;
}
for (const box of document.querySelectorAll("[data-reveals]")) box.addEventListener("change", () => reveal(box));
