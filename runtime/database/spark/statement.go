package spark

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Numbers of the interface: versions of the protocol, fields of requests and answers, states of a statement
// (TProtocolVersion, T...Req, T...Resp and TOperationState of TCLIService).
const (
	protocolV6 = 5 // the first whose answers are columns

	fieldHandle  = 2 // of the answer that begins a statement
	fieldSession = 3 // of the answer that opens a session
	fieldMore    = 2
	fieldResults = 3
	fieldColumns = 3

	stateInitialized = 0
	stateRunning     = 1
	stateFinished    = 2
	statePending     = 7
)

// batchRows is the most rows of one answer.
const batchRows = 1 << 14

// begin opens a session of the server.
func (l *link) begin(ctx context.Context, user string) error {
	answer, err := l.client.call(ctx, "OpenSession", message{{1, int32(protocolV6)}, {2, user}, {4, map[string]string{}}})
	if err != nil {
		return err
	}
	if err := succeeded("a session", answer); err != nil {
		return err
	}
	if answer.number(2) < protocolV6 {
		return errAnswer
	}
	if l.handle, err = identifier(answer.lookup(fieldSession)); err == nil {
		l.guid = answer.lookup(fieldSession, 1)[1].([]byte)
	}
	return err
}

// identifier returns a handle of the server, to be sent back (THandleIdentifier).
func identifier(r record) (message, error) {
	guid, a := r.lookup(1)[1].([]byte)
	secret, b := r.lookup(1)[2].([]byte)
	if !a || !b || len(guid) != 16 || len(secret) > 64 {
		return nil, errAnswer
	}
	return message{{1, message{{1, guid}, {2, secret}}}}, nil
}

// operation is a statement that the server works on (TOperationHandle).
type operation struct {
	of     *link
	what   string
	handle message
}

// run sends a statement and hands on its rows, a batch at a time; columns are lists of equal length. What it returns of
// an error says what was asked for, and nothing of the statement or the answer.
func (l *link) run(ctx context.Context, what, sql string, columns int, use func([]column) error) error {
	if l.timeout > 0 {
		bounded, cancel := context.WithTimeoutCause(ctx, l.timeout, fmt.Errorf("%s %w", what, errCancelled))
		defer cancel()
		ctx = bounded
	}
	o, err := l.execute(ctx, what, sql)
	if err != nil {
		return err
	}
	err = o.await(ctx)
	if err == nil && use != nil {
		err = o.fetch(ctx, columns, use)
	}
	o.close(ctx, err)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// execute begins a statement.
func (l *link) execute(ctx context.Context, what, sql string) (*operation, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	answer, err := l.client.call(ctx, "ExecuteStatement", message{{1, l.handle}, {2, sql}, {4, true}})
	if err == nil {
		err = succeeded(what, answer)
	}
	if err != nil {
		return nil, err
	}
	r := answer.lookup(fieldHandle)
	id, err := identifier(r)
	rows, _ := r[3].(bool)
	return &operation{l, what, append(id, field{2, int32(r.number(2))}, field{3, rows})}, err
}

// await waits until the statement has ended. It asks at once, and then ever less often.
func (o *operation) await(ctx context.Context) error {
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		answer, err := o.of.client.call(ctx, "GetOperationStatus", message{{1, o.handle}})
		if err == nil {
			err = succeeded(o.what, answer)
		}
		if err != nil {
			return err
		}
		switch state, is := answer[fieldOperation].(int64); {
		case !is:
			return errAnswer
		case state == stateFinished:
			return nil
		case state != stateInitialized && state != stateRunning && state != statePending:
			text, _ := answer[fieldOperationText].([]byte)
			return refusal(o.what, string(text))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// fetch hands on the rows of a statement that has ended.
func (o *operation) fetch(ctx context.Context, columns int, use func([]column) error) error {
	for {
		answer, err := o.of.client.call(ctx, "FetchResults", message{{1, o.handle}, {2, int32(0)}, {3, int64(batchRows)},
			{4, int16(0)}})
		if err == nil {
			err = succeeded(o.what, answer)
		}
		if err != nil {
			return err
		}
		batch, rows, err := readColumns(answer.lookup(fieldResults), columns)
		if err != nil {
			return err
		}
		if rows == 0 {
			return nil // what an answer says of more rows is not set by every server
		}
		if err := use(batch); err != nil {
			return err
		}
	}
}

// close lets the statement go; the server stops working on one that has not ended.
func (o *operation) close(ctx context.Context, err error) {
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err != nil {
		_, _ = o.of.client.call(after, "CancelOperation", message{{1, o.handle}}) // the error that is told came first
	}
	_, _ = o.of.client.call(after, "CloseOperation", message{{1, o.handle}}) // the server closes it with the session else
}

// Codes of a status (TStatusCode).
const (
	statusSuccess         = 0
	statusSuccessWithInfo = 1
)

// Fields of a status (TStatus) and of the state of a statement (TGetOperationStatusResp).
const (
	fieldStatus        = 1
	fieldCode          = 1
	fieldStatusState   = 3
	fieldOperation     = 2
	fieldOperationText = 3
)

// succeeded returns what may be told of an answer whose status is not success: what was asked for, and the SQLSTATE.
func succeeded(what string, answer record) error {
	status := answer.lookup(fieldStatus)
	code, is := status[fieldCode].(int64)
	if !is {
		return errAnswer
	}
	if code == statusSuccess || code == statusSuccessWithInfo {
		return nil
	}
	state, _ := status[fieldStatusState].([]byte)
	return refusal(what, string(state))
}

// refusal returns the error of a statement.
func refusal(what, state string) error {
	return fmt.Errorf("the database refused %s (%s); its own log has the text", what, describeState(state))
}

// describeState names a SQLSTATE: the code and the name of its class, where the code is one that Spark 4.0 itself gives
// to a statement of ours (its table of error conditions). A function that a view calls may raise any other.
func describeState(state string) string {
	classes := map[string]string{"08": "connection exception", "0A": "feature not supported", "22": "data exception",
		"42": "access rule or syntax",
		"46": "Java DDL", "53": "insufficient resources", "54": "program limit exceeded", "57": "operator intervention",
		"58": "system error", "XX": "internal error"}
	if slices.Contains(strings.Fields(states), state) {
		return state + ", " + classes[state[:2]]
	}
	return "with a SQLSTATE that is not repeated here"
}

// states are the codes that are told.
const states = "08000 08001 08003 08004 08006 0A000 22000 22003 22004 22005 22006 22007 22008 22012 22018 22023 " +
	"2203G 22546 " +
	"42000 42501 42601 42602 42604 42607 42613 42616 42701 42702 42703 42704 42710 42711 42723 42802 42803 42804 42809 " +
	"42822 42823 42826 42837 42846 42883 42884 42905 " +
	"42K03 42K09 42K04 42K05 42P01 42P02 42P06 42P07 42P08 42P20 46110 46121 53200 54000 54023 54K00 54KD1 58030 XX000 " +
	"XXKCM XXKDA"

// errCancelled is the end of a statement that took longer than its timeout.
var errCancelled = errors.New("takes longer than database.timeout, and was cancelled")
