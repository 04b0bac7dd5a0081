package spark

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

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

// succeeded returns what may be told of an answer whose status is no success: what was asked for, and the SQLSTATE.
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
